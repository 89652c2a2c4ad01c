import type { ServicePortKey } from '../../model/service-port-name.js';
import type { Claims } from '../../reconcile/claims.js';
import { isUnexplained } from '../../reconcile/unexplained.js';
import { EXTERNAL_SERVICES, NODE_PORTS, SERVICES } from '../chain-names.js';
import type { SharedEntry } from '../table.js';
import { claimId } from './owned-rules.js';

/** Where packets to a frontend are translated, and where those are refused or dropped that were not. */
const TRANSLATING = [`nat ${SERVICES} `, `nat ${NODE_PORTS} `];
const TURNING_AWAY = [`filter ${SERVICES} `, `filter ${EXTERNAL_SERVICES} `];

/**
 * The service ports that claim the frontend of an entry, whatever they do with its packets. The first is the one whose rules packets
 * from outside this node meet: table nat comes before table filter, so one that forwards is before all that refuse or drop, and among
 * those that do the same the order is that of their keys.
 */
export function claimantsOf(claims: Claims, entry: SharedEntry): readonly ServicePortKey[] {
  const claimants = claims.claimants(claimId(entry));
  const turningAway = among(claims, TURNING_AWAY, entry);
  // So it is with nearly all entries, of which there are very many.
  if (entry.table === 'nat' && turningAway.length === 0) return claimants;
  const translating = among(claims, TRANSLATING, entry);
  const all = [...new Set([...claimants, ...translating, ...turningAway])];
  if (all.length < 2) return all;
  const forwards = (key: ServicePortKey): boolean => translating.includes(key) && !turningAway.includes(key);
  const sorted = all.filter((key) => !isUnexplained(key)).sort();
  return [...sorted.filter(forwards), ...sorted.filter((key) => !forwards(key))];
}

function among(
  claims: Claims,
  places: readonly string[],
  { frontend }: SharedEntry,
): readonly ServicePortKey[] {
  return places.flatMap((place) => claims.claimants(`${place}${frontend}`));
}
