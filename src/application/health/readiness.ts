import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { Clock } from '../ports/clock.js';
import type { ResourceKind } from '../ports/cluster-source.js';
import type { ServiceStatuses } from '../status/service-statuses.js';
import type { ProxyHealth } from './proxy-health.js';

/** One condition of readiness. */
export interface ReadinessCheck {
  readonly name:
    | 'caches-synced'
    | 'sources'
    | 'first-sync'
    | 'sync'
    | 'forwarding'
    | 'services'
    | 'watches'
    | 'other-modes';
  /** Why it is not met; undefined when it is. */
  readonly reason?: string;
}

export interface ReadinessVerdict {
  readonly ready: boolean;
  readonly now: number;
  readonly checks: readonly ReadinessCheck[];
}

/** A service port may fail for this long; most failures end with the next retry. Milliseconds. */
const LONGEST_FAILURE = 60_000;
/** How many problems of one check are listed. */
const NAMED = 10;

/**
 * Whether this node implements the state of the cluster: all objects were listed and read, everything was programmed at least
 * once, nothing is overdue, no check of forwarding has found a fault, no service port that its mode can serve has failed for more than a minute, news arrives, and no rules of
 * another mode are left to meet packets. Stricter than health, and for people and rollouts rather than load balancers: a node that is
 * not ready may still serve nearly everything.
 */
export class Readiness {
  constructor(
    private readonly health: ProxyHealth,
    private readonly statuses: ServiceStatuses,
    /** Kinds whose first list has not arrived. */
    private readonly missing: () => readonly ResourceKind[],
    /** Objects unreadable since the start. Rules that no object explains are kept because of them. */
    private readonly unreadable: () => readonly string[],
    /** Why rules of other modes remain, which may send packets to outdated endpoints. */
    private readonly otherModes: () => readonly string[],
    private readonly clock: Clock,
  ) {}

  verdict(): ReadinessVerdict {
    const now = this.clock.now();
    const { families, stale } = this.health.verdict();
    const faults = [...families.keys()].flatMap((family) => {
      const fault = this.health.forwardingFault(family);
      return fault === undefined ? [] : [`${family}: ${fault}`];
    });
    const unhealthy = [...families].filter(([, { healthy }]) => !healthy);
    const reasons = (started: boolean): readonly string[] =>
      unhealthy
        .filter(([, { lastUpdated }]) => (lastUpdated !== undefined) === started)
        .map(([family, { reason }]) => `${family}: ${reason}`);
    const checks = [
      check(
        'caches-synced',
        this.missing().map((kind) => `${kind} not listed yet`),
      ),
      check('sources', named(this.unreadable())),
      check('first-sync', families.size > 0 ? reasons(false) : ['the sync loop has not started']),
      check(
        'sync',
        reasons(true).filter((reason) => !faults.includes(reason)),
      ),
      // Without a fault nothing is known: the check may be off.
      ...(faults.length > 0 ? [check('forwarding', faults)] : []),
      check('services', this.failing(now)),
      check(
        'watches',
        stale.map(({ kind, reason }) => `${kind}: ${reason}`),
      ),
      check('other-modes', this.otherModes()),
    ];
    return { ready: checks.every(({ reason }) => reason === undefined), now, checks };
  }

  private failing(now: number): readonly string[] {
    const all = IP_FAMILIES.flatMap((family) =>
      this.statuses
        .failures(family)
        .filter(({ servicePort }) => !this.isBeyondMode(family, servicePort))
        .map((port) => ({ ...port, lasts: now - Date.parse(port.sinceTime) }))
        .filter(({ lasts }) => lasts > LONGEST_FAILURE)
        .map(
          ({ servicePort, reason, lasts }) =>
            `${servicePort} (${family}) for ${Math.floor(lasts / 1000)} s: ${reason}`,
        ),
    );
    return named(all);
  }

  /** Waiting does not help: only another mode serves it. */
  private isBeyondMode(family: IpFamily, key: ServicePortKey): boolean {
    const status = this.statuses.get(family, key);
    return status?.state === 'failed' && status.limitedBy === 'mode';
  }
}

function named(all: readonly string[]): readonly string[] {
  return all.length <= NAMED ? all : [...all.slice(0, NAMED), `and ${all.length - NAMED} more`];
}

function check(name: ReadinessCheck['name'], problems: readonly string[]): ReadinessCheck {
  return problems.length === 0 ? { name } : { name, reason: problems.join('; ') };
}
