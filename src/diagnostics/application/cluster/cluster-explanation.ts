import { frontendPlace } from '../../../domain/forwarding/forwarding-entry.js';
import { append } from '../../../domain/model/maps.js';
import { hostPort } from '../../../domain/net/address.js';
import {
  explanationAnswer,
  type AddressExplanation,
  type Explanation,
  type PortExplanation,
} from '../explain/explanation.js';
import { fields, list, text } from '../../../domain/shape.js';
import { foldNodes, nodeGroups, type NodeAnswer } from './query-nodes.js';

/** The explanation of a Service, or of an address or a port. */
export type Explained = Explanation | AddressExplanation;

/** The explanations of one subject on the nodes of a cluster. */
export type ClusterExplanation = ReturnType<typeof clusterExplanation>;
const clusterExplanation = fields({
  /** `shop/web`, `10.96.0.1:80/TCP`. */
  subject: text,
  /** Nodes with the same verdict that know the same frontends and endpoints, the largest group first. */
  groups: nodeGroups(explanationAnswer),
  /** Nodes that have other frontends or endpoints than most: their objects are out of date, or those of the others. */
  differingNodes: list(text),
});

/** The answer about several subjects. */
export const clusterExplanations = fields({ subjects: list(clusterExplanation) });

/** Folds the explanations of each subject. A name that a node finds in a namespace is not missing. */
export function foldExplanations(
  answers: readonly NodeAnswer<readonly Explained[]>[],
): readonly ClusterExplanation[] {
  const bySubject = new Map<string, NodeAnswer<Explained>[]>();
  for (const { node, answer } of answers)
    for (const explained of answer) append(bySubject, subjectOf(explained), { node, answer: explained });
  const subjects = [...bySubject.keys()];
  const isFoundElsewhere = (subject: string): boolean =>
    !/[/:]/.test(subject) && subjects.some((other) => other.endsWith(`/${subject}`));
  return [...bySubject].flatMap(([subject, its]) => {
    if (isFoundElsewhere(subject)) return [];
    const [, ...others] = foldNodes(its, factsOf);
    return {
      subject,
      groups: foldNodes(its, (explained) => `${verdictOf(explained)} ${factsOf(explained)}`),
      differingNodes: others.flatMap(({ nodes }) => nodes),
    };
  });
}

/** The name of a Service, or the address, that is explained. */
function subjectOf(explained: Explained): string {
  return 'service' in explained ? explained.service : explained.subject;
}

function verdictOf(explained: Explained): string {
  if (!('service' in explained)) return explained.otherwise ?? '';
  const { state, reason } = explained.verdict;
  return `${state} ${reason}`;
}

/** What is the same on nodes that know the same objects. Times, and what policy Local and hints select, differ from node to node. */
function factsOf(explained: Explained): string {
  if ('service' in explained)
    return JSON.stringify(explained.families.map(({ family, ports }) => [family, ports.map(portFacts)]));
  const { frontends, endpoints } = explained;
  return JSON.stringify([
    frontends.map((one) => [one.service, one.portName, frontendFact(one)]),
    endpoints.map((one) => [one.service, one.portName, endpointFact(one)]),
  ]);
}

function portFacts({
  portName,
  protocol,
  frontends,
  endpoints,
  affinitySeconds,
  sourceRanges,
}: PortExplanation): unknown {
  return [
    portName,
    protocol,
    frontends.map(frontendFact),
    endpoints.map(endpointFact).sort(),
    affinitySeconds,
    sourceRanges,
  ];
}

function frontendFact(frontend: PortExplanation['frontends'][number]): string {
  const { kind, policy, outcome } = frontend;
  const place = `${kind} ${frontendPlace(frontend)} (${policy})`;
  return policy === 'Cluster' ? `${place}: ${outcome}` : place;
}

function endpointFact(endpoint: PortExplanation['endpoints'][number]): string {
  const { address, port, ready, serving, terminating } = endpoint;
  return `${hostPort(address, port)} ${ready} ${serving} ${terminating}`;
}
