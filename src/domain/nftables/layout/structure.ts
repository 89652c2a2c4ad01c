import { type NodeNetwork, rejectedProtocols } from '../../forwarding/node-network.js';
import type { Protocol } from '../../model/service-port-name.js';
import { REJECTED_NODE_PORTS, setsOf, sourcesSet } from './sets.js';
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
 * node requires it: the part that rejects packets to node ports on loopback addresses.
 */
export interface Structure {
  /** Of its chain or set. */
  readonly name: string;
  /** Missing: it is a chain. */
  readonly set?: SetDefinition;
  /** Of a set of sources. */
  readonly prefixLength?: number;
  /** Of its chain. */
  readonly rules?: (node: NodeNetwork) => readonly KernelRule[];
  /** The named counter that its rules count by. */
  readonly counter?: string;
  /** The element that leads to its chain. */
  readonly leading?: { readonly set: SetDefinition; readonly element: SetElement };
}

const interned = new Map<string, readonly Structure[]>();

/** The class's chain and every chain that its rules lead to. The same class always returns the same value. */
export function structuresOfClass(trafficClass: TrafficClass): readonly Structure[] {
  const name = className(trafficClass);
  const known = interned.get(name);
  if (known) return known;
  const { kind, variant, affinitySeconds, count } = trafficClass;
  const { classes, shortCircuitClasses } = setsOf(variant);
  const leading = {
    set: kind === 'short-circuit' ? shortCircuitClasses : classes,
    element: { key: formatPriority(classNumber(trafficClass)), value: `goto ${name}` },
  };
  const structures: Structure[] = [{ name, rules: (node) => classRules(trafficClass, node), leading }];
  for (const behind of classesBehind(trafficClass)) structures.push(...structuresOfClass(behind));
  if ((kind === 'pick' || kind === 'short-circuit') && affinitySeconds > 0 && count > 0)
    structures.push({
      name: rememberChain(variant, affinitySeconds),
      rules: ({ family }) => rememberRules(variant, affinitySeconds, family),
    });
  interned.set(name, structures);
  return structures;
}

export function sourcesStructure(prefixLength: number): Structure {
  const set = sourcesSet(prefixLength);
  return { name: set.name, set, prefixLength };
}

/** The structures of the node, independent of services. */
export function nodeStructures(node: NodeNetwork): readonly Structure[] {
  const protocols = rejectedProtocols(node);
  if (protocols.length === 0) return [];
  const rejections = protocols.map((protocol): Structure => {
    const counter = rejectionCounter(protocol);
    return {
      name: rejectionChain(protocol),
      counter,
      rules: ({ family }) => [rule([{ kind: 'count', counter }, new RuleParts(family).reject])],
    };
  });
  return [{ name: REJECTED_NODE_PORTS.name, set: REJECTED_NODE_PORTS }, ...rejections];
}

/** The chain that rejects packets of that protocol. kube-proxy's name. */
export function rejectionChain(protocol: Protocol): string {
  return `localhost-nodeport-reject-${protocol.toLowerCase()}`;
}

/** The named counter of the packets that it rejected. kube-proxy's name. */
export function rejectionCounter(protocol: Protocol): string {
  return `localhost-nodeport-rejected-${protocol.toLowerCase()}`;
}
