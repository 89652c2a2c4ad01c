import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { FrontendConflict } from '../../domain/reconcile/claims.js';

/** A frontend that a service port lacks, and the one that has it. */
interface LostFrontend {
  readonly frontend: string;
  readonly owner: ServicePortKey;
}

/** A frontend that several service ports claim. */
interface Contest {
  holder: ServicePortKey;
  /** The next holder first. */
  readonly losers: Set<ServicePortKey>;
}

const NOTHING: readonly never[] = [];

/** Which service ports lack a frontend because another one holds it. An update costs what changed. */
export class FrontendConflicts {
  private readonly contests = new Map<string, Contest>();
  /** The contested frontends of each claimant, of holders and losers alike. */
  private readonly claims = new Map<ServicePortKey, Set<string>>();

  /** Whether every service port has its frontends. */
  get isEmpty(): boolean {
    return this.contests.size === 0;
  }

  /**
   * Replaces all conflicts in which the service ports are holders or losers. What a holder leaves, the first of its losers
   * holds from then on. Returns the service ports of which something else may be lost now, others included.
   */
  update(
    keys: Iterable<ServicePortKey>,
    conflicts: readonly FrontendConflict[],
  ): ReadonlySet<ServicePortKey> {
    const concerned = new Set<ServicePortKey>();
    // Usually there are no conflicts, and very many keys.
    for (const key of this.isEmpty ? NOTHING : keys)
      for (const frontend of [...(this.claims.get(key) ?? NOTHING)]) this.leave(key, frontend, concerned);
    for (const { frontend, holder, loser } of conflicts) {
      const contest = this.contests.get(frontend) ?? { holder, losers: new Set() };
      if (contest.holder !== holder) contest.losers.add(contest.holder);
      contest.holder = holder;
      contest.losers.delete(holder);
      this.contests.set(frontend, contest);
      // In the order in which they are reported.
      contest.losers.delete(loser);
      contest.losers.add(loser);
      for (const claimant of [holder, ...contest.losers]) {
        this.claims.set(claimant, (this.claims.get(claimant) ?? new Set<string>()).add(frontend));
        concerned.add(claimant);
      }
    }
    return concerned;
  }

  /** What the service port goes without; empty when it has all its frontends. */
  lostBy(key: ServicePortKey): readonly LostFrontend[] {
    return [...(this.claims.get(key) ?? NOTHING)].flatMap((frontend) => {
      const { holder } = this.contests.get(frontend)!;
      return holder === key ? [] : [{ frontend, owner: holder }];
    });
  }

  private leave(key: ServicePortKey, frontend: string, concerned: Set<ServicePortKey>): void {
    const contest = this.contests.get(frontend)!;
    for (const claimant of [contest.holder, ...contest.losers]) concerned.add(claimant);
    if (contest.holder === key) contest.holder = [...contest.losers][0]!;
    contest.losers.delete(key);
    contest.losers.delete(contest.holder);
    this.forget(key, frontend);
    if (contest.losers.size > 0) return;
    this.contests.delete(frontend);
    this.forget(contest.holder, frontend);
  }

  private forget(key: ServicePortKey, frontend: string): void {
    const frontends = this.claims.get(key)!;
    frontends.delete(frontend);
    if (frontends.size === 0) this.claims.delete(key);
  }
}
