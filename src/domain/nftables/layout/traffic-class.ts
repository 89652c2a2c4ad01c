import type { FrontendVariant } from './keys.js';
import { AFFINITY, setsOf } from './sets.js';
import type { KeyField, Rule, Statement } from './rule.js';
import type { NodeNetwork } from '../../forwarding/node-network.js';
import { FIRST_NUMBER, localTrafficStatement } from './node-rules.js';

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
}

/** Endpoints that a service port with session affinity can use; numbers of a class have 12 bits. */
export const MAX_AFFINITY_ENDPOINTS = 4094;

const KINDS = ['external-local', 'pick', 'external', 'short-circuit'] as const;

/** The chain of the class. */
export function className({ variant, kind, count, affinitySeconds }: TrafficClass): string {
  return `${variant.prefix}${kind}-${count}${affinitySeconds > 0 && count > 0 ? `-sticky-${affinitySeconds}` : ''}`;
}

/** The chain that remembers a client's endpoint for this time and sends the client there. */
export function rememberChain(variant: FrontendVariant, affinitySeconds: number): string {
  return `${variant.prefix}remember-${affinitySeconds}`;
}

/**
 * The number of the class in maps: kind (2 bits), sticky (1), then seconds (17) and endpoint count plus
 * one (12), or a one and the count plus one (28). Neither half of it is ever zero, so nft prints it as `hhhh:hhhh`.
 */
export function classNumber({ kind, count, affinitySeconds }: TrafficClass): number {
  const sticky = affinitySeconds > 0 && count > 0;
  const rest = sticky ? 0x20000000 + affinitySeconds * 0x1000 + count + 1 : 0x10000000 + count + 1;
  return KINDS.indexOf(kind) * 0x40000000 + rest;
}

/** The class of a number, undefined if there is none. Affinity without endpoints has no effect and is not part of it. */
export function classOfNumber(number: number, variant: FrontendVariant): TrafficClass | undefined {
  const kind = KINDS[number >>> 30]!;
  const sticky = (number & 0x20000000) !== 0;
  const count = (number & (sticky ? 0xfff : 0xfffffff)) - 1;
  const affinitySeconds = sticky ? (number >>> 12) & 0x1ffff : 0;
  const trafficClass: TrafficClass = { variant, kind, count, affinitySeconds };
  const leadsSomewhere = count >= (kind === 'external-local' ? 0 : 1);
  return leadsSomewhere && classNumber(trafficClass) === number ? trafficClass : undefined;
}

/** The other classes whose chains this one's rules go to. */
export function classesBehind(trafficClass: TrafficClass): readonly TrafficClass[] {
  const { kind, count } = trafficClass;
  const picks = kind === 'external' || (kind === 'external-local' && count > 0);
  return picks ? [{ ...trafficClass, kind: 'pick' }] : [];
}

/** The rules of the class's chain. */
export function classRules(trafficClass: TrafficClass, node: NodeNetwork): readonly Rule[] {
  switch (trafficClass.kind) {
    case 'pick':
    case 'short-circuit':
      return trafficClass.affinitySeconds > 0 ? stickyRules(trafficClass) : pickRules(trafficClass);
    case 'external':
      return [
        { statements: [{ kind: 'mark-set', bit: node.masqueradeBit }], comment: 'masquerade' },
        { statements: [{ kind: 'goto', chain: className({ ...trafficClass, kind: 'pick' }) }] },
      ];
    case 'external-local':
      return externalLocalRules(trafficClass, node);
  }
}

/**
 * Picks a random number, which is the key to an endpoint together with the frontend. A packet that entered the table
 * just before an endpoint was removed may pick a number that is gone at the lookup; the first number exists as long as
 * any endpoint does, so the second rule catches it.
 */
function pickRules({ variant, kind, count }: TrafficClass): readonly Rule[] {
  const { endpoints, shortCircuitEndpoints } = setsOf(variant);
  const map = (kind === 'pick' ? endpoints : shortCircuitEndpoints).name;
  return [
    { statements: [draw(count), ...translate(variant, map)] },
    ...(count > 1 ? [{ statements: [draw(1), ...translate(variant, map)] }] : []),
  ];
}

/**
 * A rule for each endpoint checks whether the client sticks to it, the next picks one. The set remembers ids instead of
 * numbers, so a client keeps its endpoint when others come and go, and no client stays with an endpoint that is gone.
 */
function stickyRules({ variant, kind, count, affinitySeconds }: TrafficClass): readonly Rule[] {
  const { affinityIds, shortCircuitAffinityIds } = setsOf(variant);
  const map = (kind === 'pick' ? affinityIds : shortCircuitAffinityIds).name;
  const remember: Statement = { kind: 'goto', chain: rememberChain(variant, affinitySeconds) };
  const takeId: Statement = { kind: 'set-priority', to: { key: withPriority(variant), map } };
  const sticks: Statement = {
    kind: 'member',
    key: [{ field: 'priority' }, { field: 'saddr' }],
    set: AFFINITY.name,
    is: '==',
  };
  return [
    ...Array.from({ length: count }, (_, offset) => ({
      statements: [draw(1, offset), takeId, sticks, remember],
    })),
    { statements: [draw(count), takeId, remember] },
    ...(count > 1 ? [{ statements: [draw(1), takeId, remember] }] : []),
  ];
}

/** The rules of rememberChain: they restart the client's timeout, then send the packet to the endpoint with the id. */
export function rememberRules(variant: FrontendVariant, affinitySeconds: number): readonly Rule[] {
  const key: readonly KeyField[] = [{ field: 'priority' }, { field: 'saddr' }];
  return [
    { statements: [{ kind: 'remember', key, set: AFFINITY.name, timeoutSeconds: affinitySeconds }] },
    { statements: translate(variant, setsOf(variant).affinityEndpoints.name) },
  ];
}

function externalLocalRules(trafficClass: TrafficClass, node: NodeNetwork): readonly Rule[] {
  const { variant, count } = trafficClass;
  const { shortCircuits, shortCircuitClasses } = setsOf(variant);
  const shortCircuit: readonly Statement[] = [
    { kind: 'set-priority', to: { key: variant.fields, map: shortCircuits.name } },
    { kind: 'verdict-map', key: [{ field: 'priority' }], map: shortCircuitClasses.name },
  ];
  const fromThisNode: Statement = { kind: 'local-address', field: 'saddr' };
  const rules: Rule[] = [];
  if (node.detector) {
    const local = localTrafficStatement(node.detector, '==');
    rules.push({ statements: [local, ...shortCircuit], comment: 'short-circuit pod traffic' });
  }
  rules.push(
    {
      statements: [fromThisNode, { kind: 'mark-set', bit: node.masqueradeBit }],
      comment: 'masquerade local traffic',
    },
    { statements: [fromThisNode, ...shortCircuit], comment: 'short-circuit local traffic' },
  );
  if (count > 0)
    rules.push({ statements: [{ kind: 'goto', chain: className({ ...trafficClass, kind: 'pick' }) }] });
  else rules.push({ statements: [{ kind: 'set-priority', to: 'none' }] });
  return rules;
}

/** Picks the number of one of `count` endpoints, starting with the one at `first`. */
function draw(count: number, first = 0): Statement {
  return { kind: 'set-priority', to: { modulus: count, offset: FIRST_NUMBER + first } };
}

function withPriority(variant: FrontendVariant): readonly KeyField[] {
  return [...variant.fields, { field: 'priority' }];
}

/** nft accepts a port translation only after a match of the transport protocol; port 0 is never used. */
function translate(variant: FrontendVariant, map: string): readonly Statement[] {
  return [
    { kind: 'dport', is: '!=', port: 0 },
    { kind: 'dnat', key: withPriority(variant), map },
  ];
}
