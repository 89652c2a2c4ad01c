import type { StartOptions } from '../../application/ports/backend.js';
import {
  RejectedError,
  type DifferenceLines,
  type Driver,
  type KernelSnapshot,
  type ReadOptions,
  type WriteResult,
} from '../../application/ports/driver.js';
import type { Logger } from '../../application/ports/logger.js';
import { BALANCING_METHODS, balancingNote } from '../../domain/balancing/balancing.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import { type NodeNetwork, rejectedProtocols } from '../../domain/forwarding/node-network.js';
import type { Protocol, ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { compileNftables } from '../../domain/nftables/compile.js';
import type { Structure } from '../../domain/nftables/layout/structure.js';
import type { SetDefinition } from '../../domain/nftables/layout/table.js';
import { NftablesAdoptedRules } from '../../domain/nftables/state/adopted-rules.js';
import { NftablesDesiredState, udpFrontends } from '../../domain/nftables/state/desired-state.js';
import { desiredTable } from '../../domain/nftables/state/desired-table.js';
import {
  type NftablesServicePortRules,
  TableChange,
} from '../../domain/nftables/state/service-port-rules.js';
import {
  changeNodeStructures,
  nodeTransaction,
  changeTransactions,
  removalsOf,
  type Transaction,
} from '../../domain/nftables/state/transaction.js';
import { ClientMemory } from './client-memory.js';
import { firstFill } from './first-fill.js';
import type { GenerationWatch } from './generation-watch.js';
import { adoptedSets, readTable, type TableReading } from './read-table.js';
import { ruleDifferences } from './rule-differences.js';
import { tableRepair } from './table-difference.js';
import { NftCommitError, type NftTransport, type TableState } from './transport.js';

interface NftablesOptions {
  readonly observer?: NftablesObserver;
  readonly compile?: typeof compileNftables;
}

/**
 * Programs one family's table `kube-proxy` through a transport. Chains and sets that are no longer needed stay until
 * the next verification, because packets may be on their way to them.
 */
export class NftablesDriver implements Driver<NftablesServicePortRules, TableChange> {
  desired = new NftablesDesiredState();
  private readonly compileEntry: typeof compileNftables;
  /** Node ports of these protocols are rejected on loopback addresses. */
  private rejected: readonly Protocol[] = [];
  private node: NodeNetwork | undefined;
  private clientMemory: ClientMemory | undefined;
  /** Nothing has been repaired since the start. */
  private isFresh = true;
  private hasPendingDeletes = false;
  private keepsUnexplained = false;
  /** The kernel rejected the last transaction. */
  private isRefused = false;
  private readonly remains: KubeProxyRemains;
  /** Unused structures in the kernel, by name. */
  private readonly unused = new Map<string, Structure>();
  private readonly observer: NftablesObserver;

  constructor(
    private readonly family: IpFamily,
    private readonly transport: NftTransport,
    readonly watch: GenerationWatch,
    private readonly logger: Logger,
    { observer = SILENT_OBSERVER, compile = compileNftables }: NftablesOptions = {},
  ) {
    this.remains = new KubeProxyRemains(family, logger);
    this.observer = observer;
    this.compileEntry = compile;
  }

  prepare(_changes: Iterable<ForwardingChange>, node: NodeNetwork, start?: StartOptions): void {
    if (start) this.begin(node, start);
    this.rejected = rejectedProtocols(node);
  }

  private begin(node: NodeNetwork, { keepUnexplained = false }: StartOptions): void {
    this.desired = new NftablesDesiredState();
    this.node = node;
    void this.clientMemory?.stop();
    const { family, transport, watch, logger } = this;
    this.clientMemory = new ClientMemory(family, transport, watch, this.desired.ids, logger);
    this.isFresh = true;
    // Leftovers of a failed write are part of the snapshot: a later removal would be unnoticed.
    this.unused.clear();
    this.keepsUnexplained = keepUnexplained;
    this.isRefused = false;
  }

  rulesDependOn(before: NodeNetwork, after: NodeNetwork): boolean {
    return before.loopbackNodePorts !== after.loopbackNodePorts;
  }

  compile(
    entry: ForwardingEntry,
    former: NftablesServicePortRules | undefined,
    warn: (text: string) => void,
  ): NftablesServicePortRules {
    const note = balancingNote(entry, 'nftables', BALANCING_METHODS);
    if (note !== undefined) warn(note);
    return this.compileEntry(entry, former, this.rejected);
  }

  get pendingDeletes(): readonly string[] | undefined {
    return this.hasPendingDeletes ? [] : undefined;
  }

  /** If the kernel rejects it, no element has changed. */
  async commit(change: TableChange, node: NodeNetwork): Promise<WriteResult> {
    const former = this.node!;
    // Rules of unused chains were written for the previous node.
    if (former !== node) {
      await this.removeUnused(change);
      changeNodeStructures(former, node, change);
    }
    this.node = node;
    const { newStructures, unusedStructures } = change;
    const { structures, elements, unused } = changeTransactions(change, this.desired, node, this.unused);
    if (former !== node) nodeTransaction(former, node, this.desired, elements);
    await this.send(structures);
    for (const structure of newStructures) this.unused.set(structure.name, structure);
    await this.send(elements);
    for (const { name } of newStructures) this.unused.delete(name);
    for (const structure of unusedStructures) this.unused.set(structure.name, structure);
    await this.remove(unused);
    if (this.remains.areLeftOver(this.desired.needsKubeProxyRules)) {
      this.hasPendingDeletes = true;
      this.watch.beginEpoch();
    }
    this.clientMemory!.forgetAbandoned();
    return { written: stepsOf([structures, elements, unused]) };
  }

  async read({ mayRecognize = false, signal }: ReadOptions = {}): Promise<
    KernelSnapshot<NftablesServicePortRules>
  > {
    const desired = { state: this.desired, node: this.node! };
    const mayBeReplaced = !(this.keepsUnexplained || this.isRefused || this.desired.keepsKubeProxyRules);
    const how = { byDigest: mayRecognize, mayBeReplaced };
    const reading = await readTable(this.transport, this.family, desired, how, signal);
    return {
      isPartial: reading.isPartial,
      repair: () => this.repair(reading),
      differences: () => this.differences(reading),
      adopted: () => this.adopted(reading),
      udpFrontends: () => udpFrontends(adoptedSets(reading.state, this.family)),
    };
  }

  private async repair(reading: TableReading): Promise<WriteResult> {
    const { state } = reading;
    const result = await (state ? this.change(state, reading) : this.fill());
    // A new table has no session affinity.
    if (this.isFresh && state) this.clientMemory!.forgetUnknown();
    else this.clientMemory!.forgetAbandoned();
    this.isFresh = false;
    return result;
  }

  private async change(state: TableState, { verified }: TableReading): Promise<WriteResult> {
    this.desired.dropUnneededRules();
    const table = desiredTable(this.desired, this.node!, verified);
    const { repair, removals, replaces } = tableRepair(table, state, this.family);
    if (replaces)
      this.logger.info({ family: this.family }, 'replacing a table kube-proxy that has another layout');
    await this.send(repair);
    this.hasPendingDeletes = false;
    this.remains.compared(table.keepsKubeProxyRules);
    for (const removal of removals) await this.remove(removal);
    return { written: stepsOf([repair, ...removals]) };
  }

  private differences({ state, verified }: TableReading): DifferenceLines {
    const table = desiredTable(this.desired, this.node!, verified);
    return ruleDifferences(table, state, this.family, this.unused.values());
  }

  /** The next transaction is compiled while the kernel takes one. */
  private async fill(): Promise<WriteResult> {
    let written = 0;
    let sending = Promise.resolve();
    for await (const piece of firstFill(this.desired, this.node!)) {
      await sending;
      sending = this.send(piece, written > 0);
      // It is awaited before the next one, and at the end.
      sending.catch(() => {});
      written += piece.steps;
    }
    await sending;
    this.hasPendingDeletes = false;
    return { written };
  }

  private adopted({ state: actual, verified }: TableReading): NftablesAdoptedRules {
    return new NftablesAdoptedRules(adoptedSets(actual, this.family), this.desired, verified, this.rejected);
  }

  /**
   * @param change the change about to be written: the kernel does not have its new structures yet, and still has those that it leaves
   * unused
   */
  async removeUnused(change = new TableChange()): Promise<void> {
    const coming = new Set(change.newStructures.map(({ name }) => name));
    const present = [...this.desired.structures()].filter(({ name }) => !coming.has(name));
    const removals = removalsOf(
      this.unused,
      [...present, ...change.unusedStructures],
      this.desired,
      this.node!,
    );
    this.unused.clear();
    for (const removal of removals) await this.remove(removal);
  }

  async cleanup(): Promise<void> {
    if ((await this.transport.read(this.family, [])) === undefined) return;
    await this.transport.commit(this.family, [{ op: 'delete-table' }]);
    this.logger.info({ family: this.family }, 'removed table kube-proxy');
  }

  async close(): Promise<void> {
    await this.clientMemory?.stop();
    await this.transport.close();
  }

  /** @param isPartial others were written before, and all of them make one change */
  private async send(transaction: Transaction, isPartial = false): Promise<void> {
    const { operations } = transaction;
    if (operations.length === 0) return;
    try {
      await this.watch.ours(
        () => this.transport.commit(this.family, operations),
        (generation) => ({ generations: generation === undefined ? [] : [generation] }),
      );
      this.isRefused = false;
    } catch (error) {
      if (!(error instanceof NftCommitError) || error.isTemporary) throw error;
      this.isRefused = true;
      throw new RejectedError(
        error,
        rejectedPorts(error, transaction),
        transaction.servicePorts(),
        isPartial,
      );
    }
  }

  /** Removes what is unused. The next verification finds again what the kernel still holds on to. */
  private async remove(removal: Transaction): Promise<void> {
    try {
      await this.send(removal);
    } catch (error) {
      if (!(error instanceof RejectedError || error instanceof NftCommitError)) throw error;
      this.observer.cleanupFailed(this.family);
      const { message: reason } = error;
      // Objects that it still uses may be rejected after it.
      if (!this.hasPendingDeletes)
        this.logger.warn({ family: this.family, reason }, 'cannot remove unused chains and sets; will retry');
      this.hasPendingDeletes = true;
    }
  }
}

function stepsOf(transactions: readonly Transaction[]): number {
  return transactions.reduce((sum, { steps }) => sum + steps, 0);
}

/** Reports of the driver to metrics. Calls are cheap and never throw. */
interface NftablesObserver {
  /** Unused chains could not be deleted; the driver retries. */
  cleanupFailed(family: IpFamily): void;
}

const SILENT_OBSERVER: NftablesObserver = { cleanupFailed() {} };

/**
 * Whether the table has rules that kube-proxy left, for service ports that cannot be programmed or read
 * (docs/internals/nftables.md#taking-over-from-kube-proxy): absent → needed → left over, until a comparison has removed them.
 */
class KubeProxyRemains {
  private isNeeded = false;

  constructor(
    private readonly family: IpFamily,
    private readonly logger: Logger,
  ) {}

  /** The table has been made as it should be, with such rules or without. */
  compared(isNeeded: boolean): void {
    if (isNeeded && !this.isNeeded)
      this.logger.warn(
        { family: this.family },
        'keeping rules of kube-proxy for service ports that cannot be programmed or read',
      );
    this.isNeeded = isNeeded;
  }

  /** A change has been written. True, once, if nothing needs them any more. */
  areLeftOver(isNeeded: boolean): boolean {
    const areLeft = this.isNeeded && !isNeeded;
    this.isNeeded = isNeeded;
    return areLeft;
  }
}

/**
 * The service ports of the elements that the kernel named, each with the reason. The kernel goes no further in a message when it
 * rejects to delete one of its elements, and on with the next message: what should replace the others is refused, too, because
 * they still exist. No service port is blamed.
 */
export function rejectedPorts(
  { failures }: NftCommitError,
  transaction: Transaction,
): ReadonlyMap<ServicePortKey, string> {
  const named = new Map<ServicePortKey, string>();
  const undeleted = new Set<string>();
  for (const { operation, element, reason } of failures) {
    if (operation === undefined || element === undefined) continue;
    const refused = transaction.operations[operation];
    if (refused?.op === 'delete-elements')
      for (const { key } of refused.elements.slice(element + 1)) undeleted.add(placeOf(refused.set, key));
    const isPresent = refused?.op === 'add-elements' && reason.startsWith('EEXIST');
    if (isPresent && undeleted.has(placeOf(refused.set, refused.elements[element]!.key))) continue;
    const owner = transaction.owner(operation, element);
    if (owner !== undefined) named.set(owner, `the kernel rejected ${refused?.op}: ${reason}`);
  }
  return named;
}

function placeOf({ name }: SetDefinition, key: string): string {
  return `${name} ${key}`;
}
