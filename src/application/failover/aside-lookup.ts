import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { FamilyPortKey } from '../../domain/traffic/service-frontends.js';
import type { AsideTimes } from '../words.js';

/** Tells of endpoints that step aside; undefined for one that does not. */
export type AsideLookup = (port: FamilyPortKey, place: string) => AsideTimes | undefined;

/** The endpoints that step aside now. */
export interface Asides {
  readonly asideTimes: AsideLookup;
  /** The service ports that have any, as last programmed. */
  portsAside(): Iterable<ForwardingEntry>;
}
