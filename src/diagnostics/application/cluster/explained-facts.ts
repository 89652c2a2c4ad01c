import { frontendPlace } from '../../../domain/forwarding/forwarding-entry.js';
import { hostPort } from '../../../domain/net/address.js';
import type {
  EndpointExplanation,
  Explanation,
  FrontendExplanation,
  PortExplanation,
} from '../explain/explanation.js';
import { portWords } from '../words/port-words.js';

/** Something that is the same on every node that knows the same objects, in words. */
export type Fact = string;

/**
 * What must be the same on all nodes about a Service: its addresses, what becomes of their traffic under policy Cluster, and the
 * endpoints that are known. What policy Local and hints make of it differs from node to node.
 */
export function factsOf({ known, families }: Explanation): ReadonlySet<Fact> {
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
