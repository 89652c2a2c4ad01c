import { type NodeNetwork, rejectedProtocols } from '../../forwarding/node-network.js';
import type { Protocol } from '../../model/service-port-name.js';
import { type FrontendVariant, REJECTED_NODE_PORTS, setsOf, sourcesSet } from './sets.js';
import type { KernelRule } from '../kernel/ruleset.js';
import { rule, RuleParts } from './rule-parts.js';
import { type SetDefinition, type SetElement, formatPriority } from './table.js';
import {
  className,
  classesBehind,
  classNumber,
  classRules,
  rememberChain,
  rememberRules,
  type TrafficClass,
} from './traffic-class.js';

/**
 * A piece of the table that many services share and that exists as long as one uses it: the chain of a traffic class,
 * the chain that remembers clients for one timeout, the set of sources of one prefix length. Or one that exists as long as the
 * node wants it: what rejects packets to node ports on loopback addresses.
 */
export type Structure =
  | { readonly kind: 'class'; readonly name: string; readonly trafficClass: TrafficClass }
  | {
      readonly kind: 'remember';
      readonly name: string;
      readonly variant: FrontendVariant;
      readonly affinitySeconds: number;
    }
  | { readonly kind: 'sources'; readonly name: string; readonly prefixLength: number }
  | { readonly kind: 'rejected-node-ports'; readonly name: string }
  | { readonly kind: 'rejection'; readonly name: string; readonly protocol: Protocol };

const interned = new Map<string, readonly Structure[]>();

/** The class's chain and every chain that its rules lead to. The same class always returns the same value. */
export function structuresOfClass(trafficClass: TrafficClass): readonly Structure[] {
  const name = className(trafficClass);
  const known = interned.get(name);
  if (known) return known;
  const structures: Structure[] = [{ kind: 'class', name, trafficClass }];
  for (const behind of classesBehind(trafficClass)) structures.push(...structuresOfClass(behind));
  const { kind, variant, affinitySeconds, count } = trafficClass;
  if ((kind === 'pick' || kind === 'short-circuit') && affinitySeconds > 0 && count > 0) {
    structures.push({
      kind: 'remember',
      name: rememberChain(variant, affinitySeconds),
      variant,
      affinitySeconds,
    });
  }
  interned.set(name, structures);
  return structures;
}

export function sourcesStructure(prefixLength: number): Structure {
  return { kind: 'sources', name: sourcesSet(prefixLength).name, prefixLength };
}

/** The structures that the node wants, whatever the services. */
export function nodeStructures(node: NodeNetwork): readonly Structure[] {
  const protocols = rejectedProtocols(node);
  if (protocols.length === 0) return [];
  return [
    { kind: 'rejected-node-ports', name: REJECTED_NODE_PORTS.name },
    ...protocols.map((protocol) => ({
      kind: 'rejection' as const,
      name: rejectionChain(protocol),
      protocol,
    })),
  ];
}

/** The rules of a structure's chain; undefined for one that is a set. */
export function structureRules(structure: Structure, node: NodeNetwork): readonly KernelRule[] | undefined {
  switch (structure.kind) {
    case 'class':
      return classRules(structure.trafficClass, node);
    case 'remember':
      return rememberRules(structure.variant, structure.affinitySeconds, node.family);
    case 'rejection':
      return [
        rule([
          { kind: 'count', counter: rejectionCounter(structure.protocol) },
          new RuleParts(node.family).reject,
        ]),
      ];
    case 'sources':
    case 'rejected-node-ports':
      return undefined;
  }
}

/** The set that the structure is; undefined for one that is a chain. */
export function structureSet(structure: Structure): SetDefinition | undefined {
  if (structure.kind === 'sources') return sourcesSet(structure.prefixLength);
  return structure.kind === 'rejected-node-ports' ? REJECTED_NODE_PORTS : undefined;
}

/** The named counter that the structure's rules count by. */
export function structureCounter(structure: Structure): string | undefined {
  return structure.kind === 'rejection' ? rejectionCounter(structure.protocol) : undefined;
}

/** The element that leads from the class's number to its chain. */
export function classElement(structure: Structure): { set: SetDefinition; element: SetElement } | undefined {
  if (structure.kind !== 'class') return undefined;
  const { trafficClass, name } = structure;
  const { classes, shortCircuitClasses } = setsOf(trafficClass.variant);
  return {
    set: trafficClass.kind === 'short-circuit' ? shortCircuitClasses : classes,
    element: { key: formatPriority(classNumber(trafficClass)), value: `goto ${name}` },
  };
}

/** The chain that rejects packets of that protocol. kube-proxy's name. */
export function rejectionChain(protocol: Protocol): string {
  return `localhost-nodeport-reject-${protocol.toLowerCase()}`;
}

/** The named counter of the packets that it rejected. kube-proxy's name. */
export function rejectionCounter(protocol: Protocol): string {
  return `localhost-nodeport-rejected-${protocol.toLowerCase()}`;
}
