import type { FrontendVariant } from './keys.js';
import { AFFINITY, setsOf } from './sets.js';
import type { KeyField, Rule, Statement } from './rule.js';
import type { NodeNetwork } from '../../forwarding/node-network.js';
import { FIRST_NUMBER, localTrafficStatement } from './node-rules.js';

/**
 * What is done with the traffic of a frontend, apart from its addresses: one chain serves all frontends of a class.
 * - `pick`: choose among `count` endpoints of the frontend.
 * - `external`: masquerade, then pick.
 * - `external-local`: clients on this node take the short circuit; others pick among `count` local endpoints.
 * - `short-circuit`: choose among `count` endpoints for clients on this node.
 */
export interface TrafficClass {
  readonly variant: FrontendVariant;
  readonly kind: 'pick' | 'external' | 'external-local' | 'short-circuit';
  readonly count: number;
  /** Seconds that a client stays with its endpoint; 0 without affinity. */
  readonly affinitySeconds: number;
}

/** Endpoints that a service port with session affinity can use; numbers of a class have 12 bits. */
export const MAX_AFFINITY_ENDPOINTS = 4094;

const KINDS = ['external-local', 'pick', 'external', 'short-circuit'] as const;

/** The chain of the class. */
export function className({ variant, kind, count, affinitySeconds }: TrafficClass): string {
  return `${variant.prefix}${kind}-${count}${affinitySeconds > 0 && count > 0 ? `-sticky-${affinitySeconds}` : ''}`;
}

/** The chain that remembers a client's endpoint for so long and sends it there. */
export function rememberChain(variant: FrontendVariant, affinitySeconds: number): string {
  return `${variant.prefix}remember-${affinitySeconds}`;
}

/**
 * The number that stands for the class in maps: kind (2 bits), sticky (1), then seconds (17) and endpoint count plus
 * one (12), or a one and the count plus one (28). Neither half of it is ever zero, so nft prints it as `hhhh:hhhh`.
 */
export function classNumber({ kind, count, affinitySeconds }: TrafficClass): number {
  const sticky = affinitySeconds > 0 && count > 0;
  const rest = sticky ? 0x20000000 + affinitySeconds * 0x1000 + count + 1 : 0x10000000 + count + 1;
  return KINDS.indexOf(kind) * 0x40000000 + rest;
}

/** The class of a number, undefined when it stands for none. Affinity that does nothing, for want of endpoints, is not in it. */
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
 * A number is drawn, and with the frontend it is the key to an endpoint. A packet that met the table just before an
 * endpoint went may draw a number that is gone when it looks it up; the first number exists as long as any endpoint
 * does, so the second rule catches it.
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
 * One rule asks for each endpoint whether the client sticks to it, the next draws one. Ids instead of numbers are
 * remembered, so a client keeps its endpoint when others come and go, and none is kept to one that is gone.
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

/** The rules of rememberChain: the client's time starts anew, then the packet goes to the endpoint behind the id. */
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

/** Draws the number of one of `count` endpoints, from the one at `first` on. */
function draw(count: number, first = 0): Statement {
  return { kind: 'set-priority', to: { modulus: count, offset: FIRST_NUMBER + first } };
}

function withPriority(variant: FrontendVariant): readonly KeyField[] {
  return [...variant.fields, { field: 'priority' }];
}

/** nft wants to see the transport protocol in the rule before it accepts a port translation; port 0 is never used. */
function translate(variant: FrontendVariant, map: string): readonly Statement[] {
  return [
    { kind: 'dport', is: '!=', port: 0 },
    { kind: 'dnat', key: withPriority(variant), map },
  ];
}
