import {
  family,
  fields,
  fieldsOf,
  flag,
  list,
  number,
  oneOf,
  optional,
  protocol,
  text,
  word,
  type Checked,
} from '../../../domain/shape.js';
import type { PacketOutcome } from '../../../domain/forwarding/forwarding-entry.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { grouped } from '../../../domain/model/maps.js';

/**
 * Sent to an endpoint; answered with an error; dropped without an answer; or unchanged by all rules. `mixed` only where rules of other
 * programs make it a matter of chance.
 */
export type TraceOutcome = PacketOutcome | 'untouched' | 'mixed';

export type TracedEndpoint = ReturnType<typeof tracedEndpoint>;
const tracedEndpoint = fields({
  address: text,
  port: number,
  /** As in `Endpoint`; missing if no Service port of the packet has such an endpoint. */
  pod: optional(text),
  nodeName: optional(text),
  zone: optional(text),
  /** Between 0 and 1; the sum over all endpoints is 1, but for rounding. */
  probability: number,
});

const isTrue = optional(oneOf(true));

/** A rule, a set or a virtual server that a packet met, and what that did. */
export type Step = ReturnType<typeof step>;
export const step = fields({
  /** Where in the kernel, such as `prerouting` or `output`. */
  hook: text,
  /** In the mode's own words: `ip kube-proxy nat-prerouting`, `nat KUBE-SERVICES`, `ipvs`. */
  where: text,
  /** The rule, as the mode's tool prints it. */
  rule: text,
  /** What it did, for people: `matches; jump KUBE-SVC-X`, `10.244.1.5:8080, 1 of 2`. */
  effect: text,
  /** The service port that the rule belongs to, if it belongs to one: `namespace/name:port`. */
  servicePort: optional(text),
  /** Another program made the rule. */
  foreign: isTrue,
  /** It is not known what the rule does, or the rule may be another one by now; the effect says which. */
  uncertain: isTrue,
});

/** The verdicts for the packets of a query, with all results of random choices. */
export type Trace = Checked<typeof traceFields>;
export const traceFields = {
  outcome: word<TraceOutcome>(),
  /** Where they may be sent, sorted by address and port; empty unless the outcome is `forward` or `mixed`. */
  endpoints: list(tracedEndpoint),
  /** Whether replies come back to another address than the sender's own. `mixed`: it depends on the endpoint. */
  sourceRewrite: oneOf('always', 'never', 'mixed'),
  /** Whether the next connection of the same client goes to the same endpoint. */
  sticky: flag,
  /** The rules that the packet met, in order; where random choices part, the steps of each part follow in turn. */
  steps: list(step),
  /** The packets may fare otherwise; a step says why. */
  uncertain: isTrue,
};

/** The first packet of a connection, on its way into or out of this node. Addresses are canonical. */
export interface Packet {
  readonly family: IpFamily;
  /** The interface through which it comes in; undefined for a packet that this node itself sends. */
  readonly inputInterface: string | undefined;
  readonly source: string;
  readonly destination: string;
  readonly protocol: Protocol;
  readonly destinationPort: number;
}

export const packetShape = fieldsOf<Packet>({
  family,
  inputInterface: optional(text),
  source: text,
  destination: text,
  protocol,
  destinationPort: number,
});

/** What the rules need to know besides the packet. */
export interface PacketEnvironment {
  /** The node's own addresses; loopback addresses may be missing. */
  readonly localAddresses: ReadonlySet<string>;
  /** The interface through which the node sends to an address, for rules that match it. Missing: unknown. */
  readonly deviceTowards?: (address: string) => Promise<string>;
  /** What earlier packets left in dynamic sets: keys, by the name of the set. */
  readonly remembered?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** One possible end of a packet, the first of its connection, and how it came there. Every mode's walk returns these. */
export interface PacketPath {
  readonly verdict: PacketOutcome | 'untouched';
  /** Where the packet was sent; only if `forward`. */
  readonly endpoint?: { readonly address: string; readonly port: number };
  /** Between 0 and 1; the sum over all paths of a packet is 1. */
  readonly probability: number;
  /** The service's own address, for packets of a node that has it (IPVS mode), which sends from there. Missing: the packet's source. */
  readonly source?: string;
  /** The packet leaves with an address of this node as its source. */
  readonly masquerade: boolean;
  /** The rules remember the client and send its next connection to the same endpoint. */
  readonly sticky: boolean;
  /** What the rules remember the client as, for `PacketEnvironment.remembered`; only where the walk is watched. */
  readonly memory?: ReadonlyMap<string, ReadonlySet<string>>;
  readonly steps: readonly Step[];
}

/** A step of a packet, for all endpoints that it may go to. */
export interface FoldedStep {
  /** Of the first endpoint. */
  readonly step: Step;
  /** Those of other endpoints that differ from it in nothing but the endpoint: its address, chance, and names that are made of these. */
  readonly alike: readonly Step[];
}

/** What differs from endpoint to endpoint: names of chains that end in a hash, numbers and addresses. */
const OF_ENDPOINT = /KUBE-[A-Z]+-[A-Z2-7]{16}|[\w.:[\]]*\d[\w.:[\]]*/g;
/** iptables mode has a probability for each endpoint but the last. */
const CHANCE = / -m statistic --mode random --probability \S+| by chance, 1 in \d+/g;

/** The steps, in order; what endpoints have in common, and what is alike for them, once. */
export function foldSteps(steps: readonly Step[]): readonly FoldedStep[] {
  return [...grouped(steps, shapeOf).values()].map((alike) => {
    const [step, ...others] = new Map(alike.map((one) => [JSON.stringify(one), one])).values();
    return { step: step!, alike: others };
  });
}

/** The same for steps that are alike. Rules of no service port, and those of other programs, are alike only if they are the same. */
function shapeOf(step: Step): string {
  const { hook, where, rule, effect, servicePort, foreign, uncertain } = step;
  if (servicePort === undefined || foreign || uncertain) return JSON.stringify(step);
  const shapes = [where, rule, effect].map((text) => text.replace(CHANCE, '').replace(OF_ENDPOINT, '#'));
  return JSON.stringify([hook, servicePort, ...shapes]);
}

/**
 * All ends of a packet in one.
 * @param rewrites whether replies of a path come back to another address than the sender's own
 */
export function summaryOf(
  paths: readonly PacketPath[],
  rewrites: (path: PacketPath) => boolean | 'mixed',
): Trace {
  const arriving = paths.filter(({ verdict }) => verdict === 'forward' || verdict === 'untouched');
  const rewritten = new Set(arriving.map(rewrites));
  const isMixed = rewritten.size > 1 || rewritten.has('mixed');
  const steps = stepsOf(paths);
  return {
    outcome: outcomeOf(paths),
    endpoints: endpointsOf(paths),
    sourceRewrite: isMixed ? 'mixed' : rewritten.has(true) ? 'always' : 'never',
    sticky: arriving.some(({ sticky }) => sticky),
    steps,
    ...(steps.some(({ uncertain }) => uncertain) && { uncertain: true }),
  };
}

function outcomeOf(paths: readonly PacketPath[]): TraceOutcome {
  const [verdict, another] = new Set(paths.map((path) => path.verdict));
  if (verdict === undefined || another !== undefined) return 'mixed';
  return verdict;
}

/** An endpoint that is reached in several ways is one. */
function endpointsOf(paths: readonly PacketPath[]): readonly TracedEndpoint[] {
  const byText = new Map<string, TracedEndpoint>();
  for (const { endpoint, probability } of paths) {
    if (!endpoint) continue;
    const text = `${endpoint.address} ${endpoint.port}`;
    const known = byText.get(text)?.probability ?? 0;
    byText.set(text, { ...endpoint, probability: known + probability });
  }
  return [...byText.values()].sort((one, other) =>
    one.address === other.address ? one.port - other.port : one.address < other.address ? -1 : 1,
  );
}

/** Steps that several paths have in common at their beginnings appear once. */
function stepsOf(paths: readonly PacketPath[]): readonly Step[] {
  const all: Step[] = [];
  let former: readonly Step[] = [];
  for (const { steps } of paths) {
    const parting = steps.findIndex((step, index) => !isSame(step, former[index]));
    if (parting >= 0) all.push(...steps.slice(parting));
    former = steps;
  }
  return all;
}

function isSame(one: Step, other: Step | undefined): boolean {
  return (
    one === other ||
    (one.hook === other?.hook &&
      one.where === other.where &&
      one.rule === other.rule &&
      one.effect === other.effect)
  );
}
