import type {
  ApplyResult,
  Backend,
  StartOptions,
  VerificationKind,
  VerifyResult,
} from '../../application/ports/backend.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { IptablesHost } from '../../domain/iptables/compile/options.js';
import type { BaseRules, IptablesServicePortRules } from '../../domain/iptables/table.js';
import { ipvsBaseRules } from '../../domain/ipvs/base-rules.js';
import type { ServiceSet } from '../../domain/ipvs/service-sets.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';

/** What an iptables backend writes instead of the rules of mode iptables. */
export interface RulesSource {
  readonly compile: (entry: ForwardingEntry) => IptablesServicePortRules;
  readonly baseRules: (node: NodeNetwork, host: IptablesHost) => BaseRules;
}

export type RulesBackendFactory = (source: RulesSource) => Backend;

const NOTHING: ApplyResult = { written: 0, failed: [], conflicts: [] };

/**
 * The iptables rules of mode ipvs, written by a backend of their own. Few service ports have any. The base rules depend on
 * which sets have members.
 */
export class IpvsRules {
  private readonly backend: Backend;
  /** How to start, until that has succeeded. */
  private startOptions: StartOptions | undefined;
  /** For which rules were written last. */
  private node: NodeNetwork | undefined;
  private filled: ReadonlySet<ServiceSet> = new Set();

  /** @param compile gives the rules of one service port */
  constructor(makeBackend: RulesBackendFactory, compile: RulesSource['compile']) {
    const baseRules: RulesSource['baseRules'] = (node, host) => ipvsBaseRules(node, host, this.filled);
    this.backend = makeBackend({ compile, baseRules });
  }

  /** The next `write` is told all service ports that have rules, and compares them with those in the kernel. */
  begin(options: StartOptions): void {
    this.startOptions = options;
  }

  get isStarted(): boolean {
    return this.startOptions === undefined;
  }

  /**
   * Costs nothing where neither the service ports, nor the node, nor the sets that have members changed.
   * @param filled the sets that have members
   */
  async write(
    changes: readonly ForwardingChange[],
    node: NodeNetwork,
    filled: ReadonlySet<ServiceSet>,
  ): Promise<ApplyResult> {
    const sameSets = filled.size === this.filled.size && [...filled].every((set) => this.filled.has(set));
    if (this.isStarted && sameSets && this.node === node && changes.length === 0) return NOTHING;
    this.filled = filled;
    this.node = undefined;
    // The backend makes base rules anew for a node that is another object.
    const result = await this.send(changes, { ...node });
    this.startOptions = undefined;
    this.node = node;
    return result;
  }

  verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    return this.backend.verify(how, signal);
  }

  /**
   * What separates the rules from those written last, or from what the first `write` would make them.
   * @param entries all service ports that have rules
   * @param filled the sets that should have members
   */
  differences(
    entries: readonly ForwardingEntry[],
    node: NodeNetwork,
    filled: ReadonlySet<ServiceSet>,
    signal?: AbortSignal,
  ): Promise<readonly RuleDifference[] | undefined> | undefined {
    if (!this.startOptions) return this.backend.differences?.(signal);
    this.filled = filled;
    return this.backend.plannedDifferences?.(entries, node, this.startOptions);
  }

  cleanup(): Promise<void> {
    return this.backend.cleanup();
  }

  close(): Promise<void> {
    return this.backend.close();
  }

  private send(changes: readonly ForwardingChange[], node: NodeNetwork): Promise<ApplyResult> {
    if (!this.startOptions) return this.backend.apply(changes, node);
    return this.backend.start(
      changes.flatMap(({ entry }) => entry ?? []),
      node,
      this.startOptions,
    );
  }
}
