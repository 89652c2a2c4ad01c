import { grouped } from '../../../domain/model/maps.js';
import type {
  Explanation,
  EndpointExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../explain/explanation.js';
import type { NodeAnswer } from './query-nodes.js';
import { portWords } from '../words.js';
import { frontendPlace } from '../../../domain/forwarding/forwarding-entry.js';
import { hostPort } from '../../../domain/net/address.js';

/** What the proxies of a cluster do for one Service, compared. Every node asked is counted or listed once. */
export interface ClusterExplanation {
  readonly service: string;
  /** Nodes that were asked. */
  readonly asked: number;
  /** Nodes that programmed what most nodes know. */
  readonly alike: number;
  /** Whether most nodes serve such a Service. */
  readonly known: boolean;
  /** What is wrong with the Service's objects in the cluster, as any node says. */
  readonly problems: readonly string[];
  /** Nodes on which a change of it is not in the kernel yet, those first that wait longest. */
  readonly behind: readonly NodeBehind[];
  /** Nodes on which a service port of it failed to be programmed. */
  readonly failed: readonly NodeProblems[];
  /** Other nodes on which a service port of it is degraded, or rules of other programs stop its traffic. */
  readonly degraded: readonly NodeProblems[];
  /** Nodes that programmed something else than most. */
  readonly different: readonly NodeDifference[];
}

interface NodeProblems {
  readonly node: string;
  readonly reasons: readonly string[];
}

interface NodeBehind {
  readonly node: string;
  /** Seconds that the oldest change has been waiting, if the node says so. */
  readonly seconds?: number;
}

export interface NodeDifference {
  readonly node: string;
  /** What most nodes have, and this one has not. */
  readonly lacks: readonly Fact[];
  /** What this node has, and most have not. */
  readonly has: readonly Fact[];
}

/** Compares what nodes say about a Service, each with what most of them know. */
export function compareExplanations(
  service: string,
  replies: readonly NodeAnswer<Explanation>[],
  asked: number,
): ClusterExplanation {
  const answers = replies.map(({ node, answer }) => ({ node, answer, facts: factsOf(answer) }));
  const inState = (state: 'failed' | 'degraded'): readonly NodeProblems[] =>
    answers.flatMap(({ node, answer }) => {
      const reasons = [...reasonsIn(answer, state), ...(state === 'degraded' ? obstaclesIn(answer) : [])];
      return reasons.length > 0 ? [{ node, reasons }] : [];
    });
  const failed = inState('failed');
  const failing = new Set(failed.map(({ node }) => node));
  const degraded = inState('degraded').filter(({ node }) => !failing.has(node));
  for (const { node } of degraded) failing.add(node);
  const waiting = answers.filter(({ node, answer }) => !failing.has(node) && isBehind(answer));
  const settled = answers.filter(({ node, answer }) => !failing.has(node) && !isBehind(answer));
  // What a node knows that is behind may be old.
  const usual = mostCommon((settled.length > 0 ? settled : answers).map(({ facts }) => facts));
  const different = settled.flatMap(({ node, facts }): NodeDifference[] => {
    const lacks = [...usual].filter((fact) => !facts.has(fact));
    const has = [...facts].filter((fact) => !usual.has(fact));
    return lacks.length + has.length > 0 ? [{ node, lacks, has }] : [];
  });
  return {
    service,
    asked,
    alike: settled.length - different.length,
    known: usual.has('serves it'),
    problems: [...new Set(answers.flatMap(({ answer }) => answer.objects.map(({ reason }) => reason)))],
    behind: waiting.map(behindOf).sort((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0)),
    failed,
    degraded,
    different,
  };
}

/** The set that most have; of several as common the first. */
function mostCommon(sets: readonly ReadonlySet<Fact>[]): ReadonlySet<Fact> {
  const alike = grouped(sets, (facts) => [...facts].sort().join('\n'));
  const [most] = [...alike.values()].sort((a, b) => b.length - a.length);
  return most?.[0] ?? new Set();
}

function reasonsIn({ families }: Explanation, state: 'failed' | 'degraded'): readonly string[] {
  return families.flatMap(({ family, ports }) =>
    ports.flatMap(({ portName, protocol, status }) =>
      status.state === state ? [`${family} port ${portWords({ portName, protocol })}: ${status.reason}`] : [],
    ),
  );
}

/** Former versions do not look for any. */
function obstaclesIn({ kernelPath }: Explanation): readonly string[] {
  const obstacles = kernelPath?.obstacles ?? [];
  return obstacles.map(({ from, to, outcome, reason }) => `from ${from} to ${to}: ${outcome}, ${reason}`);
}

function isBehind({ families }: Explanation): boolean {
  return families.some(
    ({ pending, ports }) => pending || ports.some(({ status }) => status.state === 'pending'),
  );
}

function behindOf({ node, answer }: NodeAnswer<Explanation>): NodeBehind {
  const waits = answer.families.flatMap(({ pendingSeconds }) => pendingSeconds ?? []);
  const longest = (one: number, other: number): number => Math.max(one, other);
  return waits.length > 0 ? { node, seconds: waits.reduce(longest) } : { node };
}

/** Something that is the same on every node that knows the same objects, in words. */
export type Fact = string;

/**
 * What must be the same on all nodes about a Service: its addresses, what becomes of their traffic under policy Cluster, and the
 * endpoints that are known. What policy Local and hints make of it differs from node to node.
 */
function factsOf({ known, families }: Explanation): ReadonlySet<Fact> {
  const facts = families.flatMap(({ family, ports }) =>
    ports.flatMap((port) => portFacts(port).map((fact) => `${family} ${fact}`)),
  );
  return new Set([known ? 'serves it' : 'does not serve it', ...facts]);
}

function portFacts(port: PortExplanation): readonly Fact[] {
  const name = `port ${portWords(port)}`;
  const about = [
    ...port.frontends.map(frontendFact),
    ...port.endpoints.map(endpointFact),
    ...(port.affinitySeconds > 0 ? [`affinity for ${port.affinitySeconds} s`] : []),
    ...port.sourceRanges.map((range) => `accepts sources in ${range}`),
  ];
  return [name, ...about.map((fact) => `${name}: ${fact}`)];
}

function frontendFact(frontend: FrontendExplanation): Fact {
  const { kind, policy, outcome } = frontend;
  const where = `${kind} ${frontendPlace(frontend)} (${policy})`;
  return policy === 'Cluster' ? `${where}: ${outcome}` : where;
}

function endpointFact({ address, port, ready, serving, terminating }: EndpointExplanation): Fact {
  const state = ready ? 'ready' : terminating && serving ? 'terminating, still serving' : 'not ready';
  return `endpoint ${hostPort(address, port)}: ${state}`;
}
