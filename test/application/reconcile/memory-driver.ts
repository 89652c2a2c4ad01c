import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import type { ServiceFailure, StartOptions } from '../../../src/application/ports/backend.js';
import {
  RejectedError,
  type Driver,
  type KernelSnapshot,
  type ReadOptions,
  type WriteResult,
  type WriteWatch,
} from '../../../src/application/ports/driver.js';
import type { FrontendAddress } from '../../../src/domain/conntrack/frontend-map.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import {
  displayName,
  type ServicePortKey,
  type ServicePortName,
} from '../../../src/domain/model/service-port-name.js';
import type { AdoptedRules, DesiredState } from '../../../src/domain/reconcile/desired-state.js';
import { OwnedParts, type Part } from '../../../src/domain/reconcile/owned-parts.js';

/** What the kernel of this driver holds under a key: `label: value`. */
interface Line extends Part {
  readonly value: string;
}

type Lines = readonly Line[];
/** What comes after under each key, undefined if nothing does, and whose it is or was. */
type Change = Map<string, { readonly part: Line | undefined; readonly owner: ServicePortKey | undefined }>;

/** How the kernel rejects a value: without a name, or naming its service port. */
export type Refusal = 'anonymous' | 'named' | undefined;

/** A kernel that is a map. It outlives drivers. */
export class MemoryKernel {
  readonly lines = new Map<string, string>();
  /** Asked for each line that is written, and with an empty value for each that is removed. */
  refuse: (key: string, value: string) => Refusal = () => undefined;
  /** Thrown instead of writing. */
  outage: Error | undefined;
  /** Called after each write, refused or not, with what the kernel holds then. */
  observe: (lines: ReadonlyMap<string, string>) => void = () => undefined;
  /**
   * With `by line`, each line is a step of its own: those that are refused are left, the others written. With `until refused`, lines
   * are written up to the first that is refused.
   */
  writes: 'at once' | 'by line' | 'until refused' = 'at once';
  epoch: number | undefined = 1;
  reads = 0;
  commits = 0;

  /** Another program writes. */
  tamper(change: (lines: Map<string, string>) => void): void {
    change(this.lines);
    if (this.epoch !== undefined) this.epoch++;
  }
}

export const MEMORY = { mode: 'memory', family: 'IPv4' } as const;

/** The smallest driver that uses everything that the reconciler offers. */
export class MemoryDriver implements Driver<Lines, Change> {
  readonly watch: WriteWatch;
  desired = new DesiredLines();
  pendingDeletes: readonly string[] | undefined;

  constructor(private readonly kernel: MemoryKernel) {
    this.watch = {
      seesEveryWrite: true,
      epoch: () => Promise.resolve(kernel.epoch),
    };
  }

  prepare(_changes: unknown, _node: NodeNetwork, start?: StartOptions): void {
    if (start) this.desired = new DesiredLines();
  }

  compile(
    { name, frontends, endpoints }: ForwardingEntry,
    _former: Lines | undefined,
    warn: (text: string) => void,
  ): Lines {
    if (name.name.startsWith('slow')) warn('slower than asked for');
    if (name.name.startsWith('broken')) throw new Error('a name that no rule may have');
    return frontends.map(({ address = 'node', port }) => {
      const key = `${address}:${port}`;
      const to = (endpoints.cluster ?? []).map(endpointPlace).join(',');
      return { key, frontend: key, value: `${displayName(name)}: ${to}` };
    });
  }

  async commit(change: Change): Promise<WriteResult> {
    return this.write(change);
  }

  async read({ signal }: ReadOptions = {}): Promise<KernelSnapshot<Lines>> {
    this.kernel.reads++;
    await Promise.resolve();
    signal?.throwIfAborted();
    const actual = new Map(this.kernel.lines);
    return {
      repair: () => this.repair(actual),
      adopted: () => this.adopted(actual),
      udpFrontends: () => [...actual.keys()].map(addressOf),
    };
  }

  async repair(actual: ReadonlyMap<string, string>): Promise<WriteResult> {
    const gone = { part: undefined, owner: undefined };
    this.pendingDeletes = undefined;
    const change: Change = new Map([...actual.keys()].map((key) => [key, gone]));
    for (const held of this.desired.lines.held())
      if (actual.get(held.part.key) === held.part.value) change.delete(held.part.key);
      else change.set(held.part.key, held);
    return this.write(change);
  }

  private adopted(actual: ReadonlyMap<string, string>): AdoptedRules<Lines> {
    const { lines } = this.desired;
    const labelOf = (value: string) => value.slice(0, value.indexOf(': '));
    return {
      labelsOf: (name: ServicePortName) => [displayName(name)],
      labels: () => new Set([...actual.values()].map(labelOf)),
      rules([label]: readonly string[], owner: ServicePortKey) {
        const own = [...actual].filter(
          ([key, value]) => labelOf(value) === label && (lines.ownerOf(key) ?? owner) === owner,
        );
        return own.length > 0 ? own.map(([key, value]) => ({ key, frontend: key, value })) : undefined;
      },
    };
  }

  async cleanup(): Promise<void> {
    this.kernel.lines.clear();
  }

  async close(): Promise<void> {}

  private write(change: Change): WriteResult {
    const { kernel } = this;
    if (change.size === 0) return { written: 0 };
    kernel.commits++;
    if (kernel.outage) throw kernel.outage;
    try {
      if (kernel.writes === 'by line') return this.writeByLine(change);
      return kernel.writes === 'until refused' ? this.writeUntilRefused(change) : this.writeAtOnce(change);
    } finally {
      kernel.observe(kernel.lines);
    }
  }

  private writeByLine(change: Change): WriteResult {
    const failed: ServiceFailure[] = [];
    for (const [key, { part, owner }] of change) {
      if (!this.kernel.refuse(key, part?.value ?? '')) continue;
      if (owner === undefined) this.pendingDeletes = ['EBUSY'];
      else failed.push({ key: owner, reason: 'EINVAL' });
      change.delete(key);
    }
    return { ...this.put(change), failed };
  }

  private writeUntilRefused(change: Change): WriteResult {
    const done: Change = new Map();
    const isRemoval = ([, { part }]: readonly [string, { readonly part: Line | undefined }]) => !part;
    const removedLast = [...change].sort((one, other) => Number(isRemoval(one)) - Number(isRemoval(other)));
    try {
      for (const [key, line] of removedLast) {
        this.writeAtOnce(new Map([[key, line]]));
        done.set(key, line);
      }
      return { written: done.size };
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      const suspects = [...change.values()].flatMap(({ owner }) => owner ?? []);
      throw new RejectedError(error, error.rejectedPorts, new Set(suspects), done.size > 0);
    }
  }

  private writeAtOnce(change: Change): WriteResult {
    const rejectedPorts = new Map<ServicePortKey, string>();
    const suspects = new Set<ServicePortKey>();
    let isRefused = false;
    for (const [key, { part, owner }] of change) {
      if (owner !== undefined) suspects.add(owner);
      const refusal = this.kernel.refuse(key, part?.value ?? '');
      if (refusal) isRefused = true;
      if (refusal === 'named' && owner !== undefined) rejectedPorts.set(owner, 'EINVAL');
    }
    if (isRefused) throw new RejectedError(new Error('EINVAL'), rejectedPorts, suspects, false);
    return this.put(change);
  }

  private put(change: Change): WriteResult {
    const { lines } = this.kernel;
    for (const [key, { part }] of change)
      if (part) lines.set(key, part.value);
      else lines.delete(key);
    return { written: change.size };
  }
}

class DesiredLines implements DesiredState<Lines, Change> {
  readonly lines = new OwnedParts<Line>((one, other) => one.value === other.value);

  rules(owner: ServicePortKey): Lines | undefined {
    return this.lines.of(owner);
  }

  replace(owner: ServicePortKey, rules: Lines | undefined, change?: Change): void {
    this.lines.replace(owner, rules, (before, after) => {
      const present = (after ?? before)!;
      change?.set(present.part.key, { part: after?.part, owner: present.owner });
    });
  }

  newChange(): Change {
    return new Map();
  }

  lost(frontends: readonly FrontendAddress[]): readonly FrontendAddress[] {
    return frontends.filter(({ address, port }) => this.lines.ownerOf(`${address}:${port}`) === undefined);
  }
}

function addressOf(key: string): FrontendAddress {
  const [address, port] = key.split(':') as [string, string];
  return { address, port: Number(port) };
}
