import type { Node } from '../../domain/model/node.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import {
  familyProblems,
  localTrafficWarning,
  nodePortWarning,
  unsupportedPrimary,
  type FamilyFacts,
} from '../../domain/node/configuration-checks.js';
import {
  isPrimaryLoopback,
  selectNodeAddresses,
  expandNodePortAddresses,
} from '../../domain/node/node-addresses.js';
import type { Logger } from '../ports/logger.js';
import { NamedError } from '../../domain/model/named-error.js';

/** The settings that must agree with the Node. */
export interface CheckedSettings extends Omit<
  FamilyFacts,
  'primaryFamily' | 'supported' | 'podCIDRs' | 'nodePortAddresses'
> {
  /** Overrides the Node's address unless unspecified. */
  readonly bindAddress: string;
  /** CIDRs and keywords. */
  readonly nodePortAddresses: readonly string[];
  /** The mode distinguishes traffic of local pods. */
  readonly detectsLocalTraffic: boolean;
}

/** Configuration, Node and machine contradict each other; rules would be wrong. */
export class NodeMismatchError extends NamedError {}

/**
 * Use case CheckNode: whether configuration, Node and machine fit together (docs/internals/spec/server.md §3, §5). Each warning is
 * logged once. Errors are fatal at the start. Later, when the Node changes, they are only logged: the current rules are better
 * than none.
 */
export class CheckNode {
  private readonly logged = new Set<string>();
  /** Limits of traffic that the last check found, for people. */
  private current: readonly string[] = [];

  constructor(
    private settings: CheckedSettings,
    private readonly supported: readonly IpFamily[],
    private readonly node: () => Node | undefined,
    private readonly logger: Logger,
  ) {}

  get warnings(): readonly string[] {
    return this.current;
  }

  /** @throws NodeMismatchError */
  atStart(): void {
    const mismatch = this.check();
    if (mismatch !== undefined) throw new NodeMismatchError(mismatch);
  }

  /**
   * Uses these settings from now on.
   * @throws NodeMismatchError when they are wrong; the previous ones stay
   */
  edited(settings: CheckedSettings): void {
    const previous = this.settings;
    this.settings = settings;
    try {
      if (settings.detectLocalMode === 'NodeCIDR' && (this.node()?.podCIDRs ?? []).length === 0)
        throw new NodeMismatchError(
          "detectLocalMode NodeCIDR needs podCIDRs, and this node's Node object has none",
        );
      this.atStart();
    } catch (error) {
      this.settings = previous;
      throw error;
    }
  }

  /** The Node has changed. */
  again(): void {
    const mismatch = this.check();
    if (mismatch !== undefined)
      this.logOnce(mismatch, 'the Node has changed and does not fit the configuration');
  }

  /** Logs warnings, and returns the error. */
  private check(): string | undefined {
    const addresses = selectNodeAddresses(this.node()?.ips ?? [], this.settings.bindAddress);
    const facts: FamilyFacts = {
      ...this.settings,
      primaryFamily: addresses.primaryFamily,
      supported: this.supported,
      podCIDRs: this.node()?.podCIDRs ?? [],
      nodePortAddresses: expandNodePortAddresses(this.settings.nodePortAddresses, addresses),
    };
    if (isPrimaryLoopback(addresses))
      this.logOnce(
        addresses.addresses[facts.primaryFamily],
        'this node has only a loopback address; set another one with --bind-address',
      );
    const warning = nodePortWarning(facts);
    if (warning !== undefined)
      this.logOnce(warning, 'the node port configuration may be incomplete or incorrect');
    const unsupported = unsupportedPrimary(facts);
    if (unsupported !== undefined) return unsupported;
    const { problems, fatal } = familyProblems(facts);
    const text = problems.length > 1 ? `[${problems.join(', ')}]` : (problems[0] ?? '');
    if (fatal) return `kube-proxy configuration is incorrect: ${text}`;
    if (problems.length > 0) this.logOnce(text, 'the configuration may be incorrect');
    const localTraffic = this.settings.detectsLocalTraffic ? localTrafficWarning(facts) : undefined;
    this.current = localTraffic ? [localTraffic.problem] : [];
    if (localTraffic)
      this.logOnce(localTraffic.problem, localTraffic.message, 'warn', { ipFamily: facts.primaryFamily });
    return undefined;
  }

  private logOnce(
    problem: string,
    message: string,
    level: 'warn' | 'error' = 'error',
    facts: object = {},
  ): void {
    if (this.logged.has(problem)) return;
    this.logged.add(problem);
    this.logger[level]({ ...facts, problem }, message);
  }
}
