import type { FamilyPortKey } from '../../domain/traffic/service-frontends.js';

/** When an endpoint stepped aside and is tried again, in milliseconds since the epoch. */
export interface AsideTimes {
  readonly since: number;
  readonly until: number;
  /** How many times in a row it has stepped aside, this one included. */
  readonly times: number;
}

/** Tells of endpoints that step aside; undefined for one that does not. */
export type AsideLookup = (port: FamilyPortKey, place: string) => AsideTimes | undefined;
