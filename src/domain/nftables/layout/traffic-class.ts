import type { BalancingMethod } from '../../balancing/balancing.js';
import { TABLE_SIZES } from '../../balancing/slots.js';
import { type FrontendVariant, AFFINITY, setsOf, SLOTS } from './sets.js';
import {
  CLEAR_PRIORITY,
  leadTo,
  markSet,
  rule,
  RuleParts,
  setPriority,
  type DrawnNumber,
  type Key,
  type RulePart,
} from './rule-parts.js';
import type { KernelRule } from '../kernel/ruleset.js';
import type { NodeNetwork } from '../../forwarding/node-network.js';
import type { IpFamily } from '../../net/ip-family.js';
import { FIRST_NUMBER, localTraffic } from './node-rules.js';

/**
 * How the traffic of a frontend is handled, apart from its addresses: one chain serves all frontends of a class.
 * - `pick`: choose among `count` endpoints of the frontend.
 * - `external`: masquerade, then pick.
 * - `external-local`: clients on this node take the short circuit; others pick among `count` local endpoints.
 * - `short-circuit`: choose among `count` endpoints for clients on this node.
 */
export interface TrafficClass {
  readonly variant: FrontendVariant;
  readonly kind: 'pick' | 'external' | 'external-local' | 'short-circuit';
  readonly count: number;
  /** Seconds for which a client keeps its endpoint; 0 without affinity. */
  readonly affinitySeconds: number;
  /** How a number is chosen; missing: at random. */
  readonly method?: DrawnMethod;
  /**
   * The size of the frontend's table, from which an endpoint is chosen; with affinity one of TABLE_SIZES, and `count` is the numbers
   * that are looked through, a power of two. Without affinity `count` is 1. Missing: one of `count` is chosen.
   */
  readonly slots?: number | undefined;
}

/** The methods that do not draw numbers at random. */
type DrawnMethod = Exclude<BalancingMethod, 'random' | 'least-connections'>;

/** Endpoints that a service port with session affinity can use; numbers of a class have 12 bits. */
export const MAX_AFFINITY_ENDPOINTS = 4094;

/** Endpoints that a table leads to have numbers from here on; those that are chosen without a table have numbers from FIRST_NUMBER on. */
export const FIRST_NAMED = 0xc0000000;

/** Of hashes: the same on all nodes, and another one than programs are likely to use. */
export const HASH_SEED = 0x6d61676c;

const KINDS = ['external-local', 'pick', 'external', 'short-circuit'] as const;
/** Their places are part of class numbers. */
const METHODS = ['random', 'round-robin', 'maglev', 'maglev-source'] as const;

/** The chain of the class. */
export function className({ variant, kind, count, affinitySeconds, method, slots }: TrafficClass): string {
  const name = `${variant.prefix}${kind}-${count}`;
  const chosen = method === undefined ? '' : `-${method}`;
  if (slots === undefined)
    return affinitySeconds === 0 || count === 0 ? name + chosen : `${name}-sticky-${affinitySeconds}`;
  if (affinitySeconds === 0) return `${variant.prefix}${kind}-${slots}-slots${chosen}`;
  return `${name}-sticky-${affinitySeconds}-${slots}-slots${chosen}`;
}

/** The chain that remembers a client's endpoint for this time and sends the client there. */
export function rememberChain(variant: FrontendVariant, affinitySeconds: number): string {
  return `${variant.prefix}remember-${affinitySeconds}`;
}

/** Beyond the seconds and counts of classes without a table. */
const FIRST_TABLED = 0x15181000;
const TABLED_SPAN = 0x800;
/** The logarithm of the greatest count of a class with a table: more than MAX_AFFINITY_ENDPOINTS. */
const MOST_TABLED = 12;
/** Earlier versions used those below for tables of frontends. */
const FIRST_CHOICE = 0x100;

/**
 * The number of the class in maps: kind (2 bits), sticky (1), and the rest. Not sticky: a one, whether there is a table (1), the method
 * (2) and one more than the slots or the count (25). Sticky: seconds (17) and count plus one (12), or from FIRST_TABLED on seconds, and
 * the logarithm of the count, table and method (11). Neither half of it is ever zero, so nft prints it as `hhhh:hhhh`.
 */
export function classNumber(trafficClass: TrafficClass): number {
  const { kind, count, affinitySeconds, method = 'random', slots } = trafficClass;
  const number = KINDS.indexOf(kind) * 0x40000000;
  if (affinitySeconds === 0 || count === 0) {
    const table = slots === undefined ? 0 : 0x8000000;
    return number + 0x10000000 + table + METHODS.indexOf(method) * 0x2000000 + (slots ?? count) + 1;
  }
  if (slots === undefined) return number + 0x20000000 + affinitySeconds * 0x1000 + count + 1;
  const table = TABLE_SIZES.length - TABLE_SIZES.findIndex((size) => size === slots);
  const choice = FIRST_CHOICE + METHODS.indexOf(method) + 4 * (table + 8 * Math.log2(count));
  return number + 0x20000000 + FIRST_TABLED + affinitySeconds * TABLED_SPAN + choice;
}

/** The class of a number, undefined if there is none. Affinity without endpoints has no effect and is not part of it. */
export function classOfNumber(number: number, variant: FrontendVariant): TrafficClass | undefined {
  const kind = KINDS[number >>> 30]!;
  const rest = number & 0x1fffffff;
  const isSticky = (number & 0x20000000) !== 0;
  const choice = !isSticky ? plain(rest) : rest < FIRST_TABLED ? sticky(rest) : tabled(rest - FIRST_TABLED);
  const trafficClass: TrafficClass = { variant, kind, ...choice };
  const leadsSomewhere = choice.count >= (kind === 'external-local' ? 0 : 1);
  return leadsSomewhere && classNumber(trafficClass) === number ? trafficClass : undefined;
}

type Choice = Omit<TrafficClass, 'variant' | 'kind'>;

function plain(rest: number): Choice {
  const number = (rest & 0x1ffffff) - 1;
  const chosen = { affinitySeconds: 0, ...methodAt((rest >>> 25) & 3) };
  return (rest & 0x8000000) === 0 ? { count: number, ...chosen } : { count: 1, ...chosen, slots: number };
}

function sticky(rest: number): Choice {
  return { count: (rest & 0xfff) - 1, affinitySeconds: rest >>> 12 };
}

function tabled(rest: number): Choice {
  const choice = (rest % TABLED_SPAN) - FIRST_CHOICE;
  const logarithm = choice >> 5;
  const slots = TABLE_SIZES[TABLE_SIZES.length - ((choice >> 2) & 7)];
  return {
    count: logarithm <= MOST_TABLED && slots !== undefined ? 2 ** logarithm : 0,
    affinitySeconds: Math.floor(rest / TABLED_SPAN),
    ...methodAt(choice & 3),
    slots,
  };
}

function methodAt(place: number): Pick<TrafficClass, 'method'> {
  const method = METHODS[place];
  return method === undefined || method === 'random' ? {} : { method };
}

/** The other classes whose chains this one's rules go to. */
export function classesBehind(trafficClass: TrafficClass): readonly TrafficClass[] {
  const { kind, count } = trafficClass;
  const picks = kind === 'external' || (kind === 'external-local' && count > 0);
  return picks ? [{ ...trafficClass, kind: 'pick' }] : [];
}

/** The rules of the class's chain. */
export function classRules(trafficClass: TrafficClass, node: NodeNetwork): readonly KernelRule[] {
  const parts = new RuleParts(node.family);
  switch (trafficClass.kind) {
    case 'pick':
    case 'short-circuit':
      return trafficClass.affinitySeconds > 0
        ? stickyRules(trafficClass, parts)
        : pickRules(trafficClass, parts);
    case 'external':
      return [
        rule([markSet(node.masqueradeBit)], 'masquerade'),
        rule([leadTo('goto', className({ ...trafficClass, kind: 'pick' }))]),
      ];
    case 'external-local':
      return externalLocalRules(trafficClass, node, parts);
  }
}

/**
 * Picks a number, which is the key to an endpoint together with the frontend. A packet that entered the table
 * just before an endpoint was removed may pick a number that is gone at the lookup; the first number exists as long as
 * any endpoint does, so the second rule catches it.
 */
function pickRules(trafficClass: TrafficClass, parts: RuleParts): readonly KernelRule[] {
  const { variant, kind, count, slots } = trafficClass;
  const { endpoints, shortCircuitEndpoints } = setsOf(variant);
  const map = (kind === 'pick' ? endpoints : shortCircuitEndpoints).name;
  const translated = parts.translate(withPriority(variant), map);
  return [
    rule([...choose(trafficClass, parts), translated]),
    ...(count > 1 || slots !== undefined ? [rule([draw(parts, 1), translated])] : []),
  ];
}

/**
 * A rule for each endpoint checks whether the client sticks to it, the next picks one. The set remembers ids instead of
 * numbers, so a client keeps its endpoint when others come and go, and no client stays with an endpoint that is gone.
 */
function stickyRules(trafficClass: TrafficClass, parts: RuleParts): readonly KernelRule[] {
  const { variant, kind, count, affinitySeconds, slots } = trafficClass;
  const { affinityIds, shortCircuitAffinityIds } = setsOf(variant);
  const map = (kind === 'pick' ? affinityIds : shortCircuitAffinityIds).name;
  const remember = leadTo('goto', rememberChain(variant, affinitySeconds));
  const takeId = setPriority(parts.mapped(withPriority(variant), map));
  const sticks = parts.member(CLIENT, AFFINITY.name);
  return [
    ...Array.from({ length: count }, (_, offset) =>
      rule([draw(parts, 1, FIRST_NUMBER + offset), takeId, sticks, remember]),
    ),
    rule([...(slots === undefined ? [draw(parts, count)] : choose(trafficClass, parts)), takeId, remember]),
    ...(count > 1 ? [rule([draw(parts, 1), takeId, remember])] : []),
  ];
}

/** The id of an endpoint, and who sticks to it. */
const CLIENT: Key = ['priority', 'saddr'];

/** The rules of rememberChain: they restart the client's timeout, then send the packet to the endpoint with the id. */
export function rememberRules(
  variant: FrontendVariant,
  affinitySeconds: number,
  family: IpFamily,
): readonly KernelRule[] {
  const parts = new RuleParts(family);
  return [
    rule([parts.remember(CLIENT, AFFINITY.name, affinitySeconds)]),
    rule([parts.translate(withPriority(variant), setsOf(variant).affinityEndpoints.name)]),
  ];
}

function externalLocalRules(
  trafficClass: TrafficClass,
  node: NodeNetwork,
  parts: RuleParts,
): readonly KernelRule[] {
  const { variant, count } = trafficClass;
  const { shortCircuits, shortCircuitClasses } = setsOf(variant);
  const shortCircuit: readonly RulePart[] = [
    setPriority(parts.mapped(variant.fields, shortCircuits.name)),
    parts.verdict(['priority'], shortCircuitClasses.name),
  ];
  const fromThisNode = parts.local('saddr');
  const rules: KernelRule[] = [];
  if (node.detector) {
    const local = localTraffic(parts, node.detector, '==');
    rules.push(rule([local, ...shortCircuit], 'short-circuit pod traffic'));
  }
  rules.push(
    rule([fromThisNode, markSet(node.masqueradeBit)], 'masquerade local traffic'),
    rule([fromThisNode, ...shortCircuit], 'short-circuit local traffic'),
    rule([count > 0 ? leadTo('goto', className({ ...trafficClass, kind: 'pick' })) : CLEAR_PRIORITY]),
  );
  return rules;
}

/** The number of an endpoint: a random one, or the one to which a slot of the frontend's table leads. */
function choose(
  { variant, kind, count, method, slots }: TrafficClass,
  parts: RuleParts,
): readonly RulePart[] {
  if (slots === undefined) return [draw(parts, count, FIRST_NUMBER, method)];
  const { tables, shortCircuitTables } = setsOf(variant);
  const slot = { draw: { modulus: slots, offset: 0, by: method && chosenBy(method) } };
  return [
    setPriority(parts.mapped(variant.fields, (kind === 'pick' ? tables : shortCircuitTables).name)),
    setPriority(parts.mapped(['priority', slot], SLOTS.name)),
  ];
}

/** Picks a number below a limit. */
function draw(parts: RuleParts, modulus: number, offset = FIRST_NUMBER, method?: DrawnMethod): RulePart {
  return setPriority(parts.drawn({ modulus, offset, by: method && chosenBy(method) }));
}

function chosenBy(method: DrawnMethod): DrawnNumber['by'] {
  switch (method) {
    case 'round-robin':
      return 'turn';
    case 'maglev':
      return { key: ['saddr', 'sport'], seed: HASH_SEED };
    case 'maglev-source':
      return { key: ['saddr'], seed: HASH_SEED };
  }
}

function withPriority(variant: FrontendVariant): Key {
  return [...variant.fields, 'priority'];
}
