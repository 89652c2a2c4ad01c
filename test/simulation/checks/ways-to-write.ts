import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { Simulation } from '../simulation.js';
import type { Mode } from '../world/settings.js';

/** How a mode writes, as far as it decides how often it may. */
export interface WayToWrite {
  /** Calls with each write of one family that is tried. */
  follow(simulation: Simulation, tried: (family: IpFamily, isTaken: boolean) => void): void;
  /** Writes that follow each other within so many milliseconds are of one round. */
  readonly together: number;
  /** So many milliseconds after a verification has begun it writes at the latest. */
  readonly readsFor: number;
  /** Milliseconds between two syncs at least (docs/configuration/README.md); with 0 each change is written at once. */
  readonly pause: number;
  /** How often what a round counts as one write may be refused. Missing: a round writes in steps, which have no limit of their own. */
  readonly refusalsOfWrite?: number;
}

/** Programs take some milliseconds, where netlink takes none. */
const OF_PROGRAMS = { together: 100, readsFor: 20, pause: 1_000 } as const;

/** Of each mode that writes rules. */
export const WAYS_TO_WRITE: Readonly<Partial<Record<Mode, WayToWrite>>> = {
  nftables: {
    follow: ({ world }, tried) => world.machine.nfTables.onBatch(tried),
    together: 0,
    readsFor: 5,
    pause: 0,
    refusalsOfWrite: 1,
  },
  iptables: {
    follow: ({ world: { machine } }, tried) =>
      machine.programs.onWrite(({ program, isTaken }) => {
        if (program !== 'ipset') tried(program === 'iptables' ? 'IPv4' : 'IPv6', isTaken);
      }),
    ...OF_PROGRAMS,
    // Shared chains are tried the other way, too, before anybody is blamed; what is unused goes in a restore of its own.
    refusalsOfWrite: 2,
  },
  ipvs: {
    // Of a write of many steps those that are not refused are taken each time, and where there are two families, steps do not tell whose
    // they are.
    follow: ({ world: { machine, settings } }, tried) => {
      const [family, other] = settings.families;
      const refused = (isTaken: boolean): void => {
        if (!isTaken && other === undefined) tried(family!, isTaken);
      };
      machine.programs.onWrite(({ isTaken }) => refused(isTaken));
      machine.ipvs.onWrite = refused;
    },
    ...OF_PROGRAMS,
  },
};
