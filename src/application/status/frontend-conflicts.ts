import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { FrontendConflict } from '../../domain/reconcile/claims.js';

/** Which service ports go without a frontend because another one holds it. An update costs what changed. */
export class FrontendConflicts {
  /** For each loser who holds its frontends. */
  private readonly holders = new Map<ServicePortKey, Map<string, ServicePortKey>>();
  private readonly losers = new Map<ServicePortKey, Set<ServicePortKey>>();

  /**
   * From now on these conflicts are all that the service ports are part of, as holders or as losers. Answers the losers, of
   * others as well, about whom there is something else to say than before.
   */
  update(
    keys: Iterable<ServicePortKey>,
    conflicts: readonly FrontendConflict[],
  ): ReadonlySet<ServicePortKey> {
    const concerned = new Set<ServicePortKey>();
    // Mostly there are none, and very many keys.
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

  /** For people; undefined when the service port has all its frontends. */
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
