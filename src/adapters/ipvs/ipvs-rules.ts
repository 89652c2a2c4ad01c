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
import type { IptablesServicePortRules, BaseRules } from '../../domain/iptables/table.js';
import { ipvsBaseRules } from '../../domain/ipvs/base-rules.js';
import type { ServiceSet } from '../../domain/ipvs/service-sets.js';

/** What an iptables backend is to write instead of the rules of mode iptables. */
export interface RulesSource {
  readonly compile: (entry: ForwardingEntry) => IptablesServicePortRules;
  readonly frame: (node: NodeNetwork, host: IptablesHost) => BaseRules;
}

export type RulesBackendFactory = (source: RulesSource) => Backend;

const NOTHING: ApplyResult = { written: 0, failed: [], conflicts: [] };

/** The iptables rules of mode ipvs: few, and the same for all services but for which sets have members. */
export class IpvsRules {
  private readonly backend: Backend;
  private node: NodeNetwork | undefined;
  private filled: ReadonlySet<ServiceSet> = new Set();

  /** @param fragmentOf the rules that a service port adds of its own */
  constructor(
    makeBackend: RulesBackendFactory,
    fragmentOf: (entry: ForwardingEntry) => IptablesServicePortRules,
  ) {
    this.backend = makeBackend({
      compile: fragmentOf,
      frame: (node, host) => ipvsBaseRules(node, host, this.filled),
    });
  }

  /** @param filled the sets that have members */
  start(
    entries: Iterable<ForwardingEntry>,
    node: NodeNetwork,
    filled: ReadonlySet<ServiceSet>,
    options: StartOptions,
  ): Promise<ApplyResult> {
    this.filled = filled;
    this.node = node;
    return this.backend.start(entries, { ...node }, options);
  }

  /** Costs nothing when neither the service ports' own rules, nor the node, nor the sets that have members changed. */
  async apply(
    changes: readonly ForwardingChange[],
    node: NodeNetwork,
    filled: ReadonlySet<ServiceSet>,
  ): Promise<ApplyResult> {
    const sameSets = filled.size === this.filled.size && [...filled].every((set) => this.filled.has(set));
    if (sameSets && this.node === node && changes.length === 0) return NOTHING;
    this.filled = filled;
    this.node = node;
    // A node that is another object is one for which the frame is drawn anew.
    return this.backend.apply(changes, { ...node });
  }

  verify(how: VerificationKind, signal?: AbortSignal): Promise<VerifyResult> {
    return this.backend.verify(how, signal);
  }

  cleanup(): Promise<void> {
    return this.backend.cleanup();
  }

  close(): Promise<void> {
    return this.backend.close();
  }
}
