import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointNumbers, hasLongList, LISTS, type EndpointNumbers } from './endpoint-numbers.js';
import { FrontendPart } from './frontend-part.js';
import type { Protocol } from '../model/service-port-name.js';
import { CLUSTER_IPS, HAIRPIN_CONNECTIONS } from './layout/sets.js';
import { rejectedNodePort, SharedPart } from './shared-part.js';
import { SlotsPart, slotsPart } from './slots-part.js';
import type { NftablesServicePortRules, TablePart } from './state/service-port-rules.js';

/**
 * Compiles one service port into its rules in the table of its family.
 * @param former its present rules; what service ports share is taken over, so that nothing compares it
 * @param rejected node ports of these protocols are rejected on loopback addresses
 */
export function compileNftables(
  entry: ForwardingEntry,
  former: NftablesServicePortRules = [],
  rejected: readonly Protocol[] = [],
): NftablesServicePortRules {
  const numbers = hasLongList(entry) ? endpointNumbers(entry, numbersIn(former)) : undefined;
  const frontends = entry.frontends.map((frontend) => new FrontendPart(entry, frontend, numbers));
  const parts: readonly TablePart[] = frontends.length > 1 ? eachOnce(frontends) : frontends;
  // Unlike a list that grows, the result of this has no spare room: it is kept for every service port.
  return parts.concat(takenOver([...sharedParts(entry, rejected), ...tables(entry, frontends)], former));
}

function numbersIn(rules: NftablesServicePortRules): EndpointNumbers | undefined {
  return rules.find((part) => part instanceof FrontendPart)?.longNumbers;
}

/** Parts that the service port may share with others. */
function sharedParts(
  { name, frontends, endpoints }: ForwardingEntry,
  rejected: readonly Protocol[],
): readonly TablePart[] {
  const parts: TablePart[] = [];
  const isRejected = rejected.includes(name.protocol);
  for (const { address, kind, port } of frontends) {
    if (kind === 'cluster-ip') parts.push(new SharedPart(CLUSTER_IPS, address!));
    else if (kind === 'node-port' && isRejected) parts.push(rejectedNodePort(name.protocol, port));
  }
  const protocol = name.protocol.toLowerCase();
  for (const { isLocal, address, port } of endpoints.reachable) {
    if (isLocal)
      parts.push(new SharedPart(HAIRPIN_CONNECTIONS, `${address} . ${address} . ${protocol} . ${port}`));
  }
  return parts;
}

/** The tables of the lists that frontends choose from. */
function tables(entry: ForwardingEntry, frontends: readonly FrontendPart[]): readonly TablePart[] {
  if (!entry.balancing) return [];
  return LISTS.filter((name) => frontends.some(({ lists }) => lists.includes(name))).flatMap(
    (name) => slotsPart(entry, name) ?? [],
  );
}

/** The parts, those among them that are there already as they are there. */
function takenOver(parts: readonly TablePart[], former: NftablesServicePortRules): readonly TablePart[] {
  if (former.length === 0) return parts;
  const present = new Map(former.map((part) => [part.key, part]));
  return parts.map((part) => {
    const known = present.get(part.key);
    return known && (!(part instanceof SlotsPart) || part.equals(known)) ? known : part;
  });
}

/** One address may be both an external IP and a load-balancer IP: the latter wins, since it may restrict sources. */
function eachOnce(parts: readonly TablePart[]): readonly TablePart[] {
  return [...new Map(parts.map((part) => [part.key, part])).values()];
}
