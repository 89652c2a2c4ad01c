import { MODES, type Mode } from '../world/settings.js';

const WITH_RULES: readonly Mode[] = ['nftables', 'iptables', 'ipvs'];

/** Checks that look at something only some worlds have, with the modes that a world may begin in to have it. */
const CHECKS = {
  'packets between two states': MODES,
  'packets when all is quiet': MODES,
  'shares of endpoints': WITH_RULES,
  'flows to serving endpoints survive': WITH_RULES,
  'flows to removed endpoints end': WITH_RULES,
  'health-check ports answer': WITH_RULES,
  'rejected Services have events': ['nftables', 'iptables'],
  'conflicts have events': MODES,
  'retries come in time': ['nftables', 'iptables'],
  'nothing leaks': MODES,
  'real servers drain': ['ipvs'],
  'drained real servers are deleted': ['ipvs'],
} as const satisfies Readonly<Record<string, readonly Mode[]>>;

export type CheckName = keyof typeof CHECKS;

/** In how many worlds a check was active, of how many in which it might have been. */
export interface Activity {
  readonly active: number;
  readonly worlds: number;
}

/** How often checks were active in some worlds. */
export class Activities {
  private readonly counts = new Map<CheckName, Activity>();

  add(mode: Mode, active: ReadonlySet<CheckName>): void {
    for (const [name, modes] of Object.entries(CHECKS) as [CheckName, readonly Mode[]][]) {
      if (!modes.includes(mode)) continue;
      const before = this.counts.get(name) ?? { active: 0, worlds: 0 };
      this.counts.set(name, {
        active: before.active + Number(active.has(name)),
        worlds: before.worlds + 1,
      });
    }
  }

  toJSON(): Readonly<Record<string, Activity>> {
    return Object.fromEntries(this.counts);
  }
}
