/** The sets and maps of the table, and the two kinds of frontend keys. */

import type { Key } from './rule-parts.js';
import type { DataType, SetDefinition } from './table.js';

/** Room for clients in the affinity set; beyond that, service continues without stickiness. */
const AFFINITY_SIZE = 262_144;

const ENDPOINT: readonly DataType[] = ['address', 'port'];

/**
 * The sets and maps that depend on the kind of frontend. docs/internals/nftables.md explains each.
 *
 * No name here is one that kube-proxy uses for another type, or that it deletes (`affinity-…`): the kernel must accept
 * its first transaction on this table, so that a node can go back to kube-proxy.
 */
interface VariantSets {
  /** frontend → traffic class. */
  readonly frontends: SetDefinition;
  /** Traffic class → chain. The only verdict map: it grows with the classes, not with the services. */
  readonly classes: SetDefinition;
  /** frontend, number → endpoint, for general clients. */
  readonly endpoints: SetDefinition;
  /** frontend → traffic class, for clients on this node where the policy is Local. */
  readonly shortCircuits: SetDefinition;
  /** frontend → number of its table, where it has one. */
  readonly tables: SetDefinition;
  /** The same for clients on this node where the policy is Local. */
  readonly shortCircuitTables: SetDefinition;
  /** Traffic class → chain for those clients. A separate map, because the chains behind `classes` look it up. */
  readonly shortCircuitClasses: SetDefinition;
  /** frontend, number → endpoint, for clients on this node where the policy is Local. */
  readonly shortCircuitEndpoints: SetDefinition;
  /** frontend, number → the endpoint's id, with session affinity. */
  readonly affinityIds: SetDefinition;
  readonly shortCircuitAffinityIds: SetDefinition;
  /** frontend, endpoint id → endpoint, with session affinity. */
  readonly affinityEndpoints: SetDefinition;
  /** Frontends without any endpoint: rejected. */
  readonly noEndpoints: SetDefinition;
  /** Frontends of policy Local with endpoints elsewhere, but none here: dropped. */
  readonly noLocalEndpoints: SetDefinition;
}

function variantSets({ prefix, types }: FrontendVariant): VariantSets {
  return {
    frontends: {
      name: `${prefix}frontends`,
      key: types,
      value: ['priority'],
      comment: 'traffic class of each frontend',
    },
    classes: {
      name: `${prefix}classes`,
      key: ['priority'],
      value: 'verdict',
      comment: 'what each traffic class does',
    },
    endpoints: { name: `${prefix}endpoints`, key: [...types, 'priority'], value: ENDPOINT },
    tables: { name: `${prefix}tables`, key: types, value: ['priority'] },
    shortCircuitTables: { name: `${prefix}short-circuit-tables`, key: types, value: ['priority'] },
    shortCircuits: { name: `${prefix}short-circuits`, key: types, value: ['priority'] },
    shortCircuitClasses: { name: `${prefix}short-circuit-classes`, key: ['priority'], value: 'verdict' },
    shortCircuitEndpoints: {
      name: `${prefix}short-circuit-endpoints`,
      key: [...types, 'priority'],
      value: ENDPOINT,
    },
    affinityIds: { name: `${prefix}sticky-ids`, key: [...types, 'priority'], value: ['priority'] },
    shortCircuitAffinityIds: {
      name: `${prefix}short-circuit-sticky-ids`,
      key: [...types, 'priority'],
      value: ['priority'],
    },
    affinityEndpoints: { name: `${prefix}sticky-endpoints`, key: [...types, 'priority'], value: ENDPOINT },
    noEndpoints: { name: `${prefix}no-endpoints`, key: types },
    noLocalEndpoints: { name: `${prefix}no-local-endpoints`, key: types },
  };
}

export const BY_ADDRESS: FrontendVariant = {
  prefix: '',
  fields: ['daddr', 'l4proto', 'dport'],
  types: ['address', 'protocol', 'port'],
};

export const BY_NODE_PORT: FrontendVariant = {
  prefix: 'nodeport-',
  fields: ['l4proto', 'dport'],
  types: ['protocol', 'port'],
};

export const VARIANTS: readonly FrontendVariant[] = [BY_ADDRESS, BY_NODE_PORT];

const VARIANT_SETS = new Map(VARIANTS.map((variant) => [variant, variantSets(variant)]));

/** The sets of one kind of frontend. */
export function setsOf(variant: FrontendVariant): VariantSets {
  return VARIANT_SETS.get(variant)!;
}

export const CLUSTER_IPS: SetDefinition = {
  name: 'cluster-ips',
  key: ['address'],
  comment: 'Active ClusterIPs',
};

export const HAIRPIN_CONNECTIONS: SetDefinition = {
  name: 'hairpin-connections',
  key: ['address', 'address', 'protocol', 'port'],
  comment: 'service hairpin connections',
};

/** Frontends restricted by loadBalancerSourceRanges. */
export const RESTRICTED_FRONTENDS: SetDefinition = {
  name: 'restricted-frontends',
  key: BY_ADDRESS.types,
  comment: 'destinations that are subject to LoadBalancerSourceRanges',
};

export const NODEPORT_IPS: SetDefinition = {
  name: 'nodeport-ips',
  key: ['address'],
  comment: 'IPs that accept NodePort traffic',
};

/** Clients and the id of the endpoint each sticks to. Filled by packets. */
export const AFFINITY: SetDefinition = {
  name: 'affinity',
  key: ['priority', 'address'],
  dynamicSize: AFFINITY_SIZE,
};

/** Number of a table, slot → number of the endpoint: frontends with the same endpoints share a table. */
export const SLOTS: SetDefinition = { name: 'slots', key: ['priority', 'slot'], value: ['priority'] };

/** By prefix length; a table has those that it needs. */
export const SOURCES_SETS: readonly SetDefinition[] = Array.from({ length: 129 }, (_, prefixLength) => ({
  name: `sources-${prefixLength}`,
  key: [...BY_ADDRESS.types, 'address'],
}));

/** Sources that may reach a restricted frontend, by their prefix length. */
export function sourcesSet(prefixLength: number): SetDefinition {
  return SOURCES_SETS[prefixLength]!;
}

/** Node ports whose packets to loopback addresses are rejected, where they are. kube-proxy's, name and type. */
export const REJECTED_NODE_PORTS: SetDefinition = {
  name: 'localhost-nodeport-reject-ports',
  key: BY_NODE_PORT.types,
  value: 'verdict',
  comment: 'localhost NodePorts rejected by kube-proxy',
};

/** The sets of every table, independent of services. */
export const STATIC_SETS: readonly SetDefinition[] = [
  CLUSTER_IPS,
  HAIRPIN_CONNECTIONS,
  RESTRICTED_FRONTENDS,
  NODEPORT_IPS,
  AFFINITY,
  SLOTS,
  ...VARIANTS.flatMap((variant) => Object.values(setsOf(variant)) as SetDefinition[]),
];

/** The possible sets of a table, independent of services. */
export const POSSIBLE_SETS: readonly SetDefinition[] = [...STATIC_SETS, ...SOURCES_SETS, REJECTED_NODE_PORTS];

/** The target of the element of a frontend. */
const BEHIND_FRONTENDS = VARIANTS.map(setsOf).flatMap((sets) => [
  sets.endpoints,
  sets.tables,
  sets.shortCircuitTables,
  sets.shortCircuits,
  sets.shortCircuitEndpoints,
  sets.affinityIds,
  sets.shortCircuitAffinityIds,
  sets.affinityEndpoints,
]);

/** Sets that grow with the endpoints, or repeat what frontends show: their elements are looked up by key. */
export const LOOKED_UP_SETS: ReadonlySet<SetDefinition> = new Set([
  CLUSTER_IPS,
  HAIRPIN_CONNECTIONS,
  SLOTS,
  ...BEHIND_FRONTENDS,
]);

/** The others, which are listed to read them. */
export const LISTED_SETS = POSSIBLE_SETS.filter((set) => !LOOKED_UP_SETS.has(set));

/** Sets that a packet is matched against only because an element of another set has led it there. */
export const LED_TO: ReadonlySet<SetDefinition> = new Set([SLOTS, ...BEHIND_FRONTENDS]);

/**
 * The two kinds of frontend keys. A frontend with an address is found by address, protocol and port; a node port by
 * protocol and port, after the address was checked to be the node's. Every map and chain that depends on the frontend
 * exists once for each.
 */
export interface FrontendVariant {
  /** Prefix of the names of maps and chains. */
  readonly prefix: '' | 'nodeport-';
  readonly fields: Key;
  readonly types: readonly DataType[];
}
