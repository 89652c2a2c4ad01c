import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { FrontendConflict } from '../../domain/reconcile/claims.js';

/** Which service ports lack a frontend because another one holds it. An update costs what changed. */
export class FrontendConflicts {
  /** For each loser, the holders of its frontends. */
  private readonly holders = new Map<ServicePortKey, Map<string, ServicePortKey>>();
  private readonly losers = new Map<ServicePortKey, Set<ServicePortKey>>();

  /** How many service ports lack a frontend. */
  get size(): number {
    return this.holders.size;
  }

  /**
   * Replaces all conflicts in which the service ports are holders or losers. Returns the losers whose note may have changed,
   * other service ports included.
   */
  update(
    keys: Iterable<ServicePortKey>,
    conflicts: readonly FrontendConflict[],
  ): ReadonlySet<ServicePortKey> {
    const concerned = new Set<ServicePortKey>();
    // Usually there are no conflicts, and very many keys.
    for (const key of this.holders.size > 0 ? keys : []) {
      for (const loser of [key, ...(this.losers.get(key) ?? [])]) {
        for (const [frontend, holder] of this.holders.get(loser) ?? [])
          if (loser === key || holder === key) this.remove(loser, frontend, concerned);
      }
    }
    for (const { frontend, holder, loser } of conflicts) {
      concerned.add(loser);
      this.holders.set(loser, (this.holders.get(loser) ?? new Map<string, string>()).set(frontend, holder));
      this.losers.set(holder, (this.losers.get(holder) ?? new Set<string>()).add(loser));
    }
    return concerned;
  }

  /** Text for people; undefined when the service port has all its frontends. */
  note(loser: ServicePortKey): string | undefined {
    const held = this.holders.get(loser);
    return held && [...held].map(([frontend, holder]) => `${frontend} belongs to ${holder}`).join('; ');
  }

  private remove(loser: ServicePortKey, frontend: string, concerned: Set<ServicePortKey>): void {
    concerned.add(loser);
    const held = this.holders.get(loser)!;
    const holder = held.get(frontend)!;
    held.delete(frontend);
    if (held.size === 0) this.holders.delete(loser);
    if ([...held.values()].includes(holder)) return;
    const losers = this.losers.get(holder)!;
    losers.delete(loser);
    if (losers.size === 0) this.losers.delete(holder);
  }
}
