import type { Node } from '../../domain/model/node.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import {
  familyProblems,
  nodePortWarning,
  unsupportedPrimary,
  type FamilyFacts,
} from '../../domain/node/configuration-checks.js';
import { isPrimaryLoopback, resolvePrimary, selectNodeAddresses } from '../../domain/node/node-addresses.js';
import type { Logger } from '../ports/logger.js';

/** The settings that must agree with the Node. */
export interface CheckedSettings extends Omit<
  FamilyFacts,
  'primaryFamily' | 'supported' | 'podCIDRs' | 'nodePortAddresses'
> {
  /** Overrides the Node's address unless unspecified. */
  readonly bindAddress: string;
  /** CIDRs, or `primary`. */
  readonly nodePortAddresses: readonly string[];
}

/** Configuration, Node and machine do not go together; rules would be wrong. */
export class NodeMismatchError extends Error {
  override readonly name = 'NodeMismatchError';
}

/**
 * Use case CheckNode: whether configuration, Node and machine go together (docs/spec/server.md §3, §5). What is odd is logged,
 * each set of complaints once. At the start what is wrong is fatal; later, when the Node changes, it is logged too: the
 * rules in force are better than none.
 */
export class CheckNode {
  private readonly told = new Set<string>();

  constructor(
    private settings: CheckedSettings,
    private readonly supported: readonly IpFamily[],
    private readonly node: () => Node | undefined,
    private readonly logger: Logger,
  ) {}

  /** @throws NodeMismatchError */
  atStart(): void {
    const mismatch = this.check();
    if (mismatch !== undefined) throw new NodeMismatchError(mismatch);
  }

  /**
   * The settings are to be these from now on.
   * @throws NodeMismatchError when they must not; the former ones stay
   */
  edited(settings: CheckedSettings): void {
    const former = this.settings;
    this.settings = settings;
    try {
      if (settings.detectLocalMode === 'NodeCIDR' && (this.node()?.podCIDRs ?? []).length === 0)
        throw new NodeMismatchError(
          'detectLocalMode NodeCIDR needs podCIDRs, which the own Node does not have',
        );
      this.atStart();
    } catch (error) {
      this.settings = former;
      throw error;
    }
  }

  /** The Node has changed. */
  again(): void {
    const mismatch = this.check();
    if (mismatch !== undefined) this.tell(mismatch, 'the Node has changed and cannot be followed altogether');
  }

  /** Logs what is odd; what is wrong is the answer. */
  private check(): string | undefined {
    const addresses = selectNodeAddresses(this.node()?.ips ?? [], this.settings.bindAddress);
    const facts: FamilyFacts = {
      ...this.settings,
      primaryFamily: addresses.primaryFamily,
      supported: this.supported,
      podCIDRs: this.node()?.podCIDRs ?? [],
      nodePortAddresses: resolvePrimary(this.settings.nodePortAddresses, addresses),
    };
    if (isPrimaryLoopback(addresses))
      this.tell(
        addresses.addresses[facts.primaryFamily],
        'only a loopback address stands for this node; --bind-address gives another one',
      );
    const warning = nodePortWarning(facts);
    if (warning !== undefined)
      this.tell(warning, 'the configuration of node ports may be incomplete or incorrect');
    const unsupported = unsupportedPrimary(facts);
    if (unsupported !== undefined) return unsupported;
    const { problems, fatal } = familyProblems(facts);
    if (problems.length === 0) return undefined;
    const text = problems.length > 1 ? `[${problems.join(', ')}]` : problems[0]!;
    if (fatal) return `kube-proxy configuration is incorrect: ${text}`;
    this.tell(text, 'the configuration may be incorrect');
    return undefined;
  }

  private tell(problem: string, message: string): void {
    if (this.told.has(problem)) return;
    this.told.add(problem);
    this.logger.error({ problem }, message);
  }
}
