import { frontendName } from '../../../domain/forwarding/forwarding-entry.js';
import { destinationText, queryOf, sourceText, type TraceQuery } from '../../domain/trace/query.js';
import { errorMessage } from '../../../application/error-message.js';
import type { TraceAnswer } from '../trace/answer.js';
import type {
  KernelWalk,
  Obstacle,
  ProbedEndpoint,
  ProbedEndpoints,
  Explanation,
  FrontendExplanation,
  PortExplanation,
} from './explanation.js';
import { blocked, notReachable } from '../../../domain/verdict/sentences.js';
import { worstOf } from '../../../domain/verdict/verdict.js';
import { familyOf } from '../../../domain/net/ip-family.js';
import type { Route } from '../../../application/ports/node/network.js';
import { endpointPlace } from '../../../domain/model/endpoint.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';

/** Of an explanation, for all frontends that forward. */
type Explained = Pick<Explanation, 'families'>;

/**
 * Use case WalkKernel: follows packets to all frontends that should forward through the rules that the kernel has now.
 * @param trace follows one, by the rules of the kernel
 * @param nodeAddresses of this machine; node ports are looked at on the first of each family
 * @param timeUp when no more are followed
 */
export async function walkKernel(
  explained: Explained,
  trace: (query: TraceQuery) => Promise<TraceAnswer>,
  nodeAddresses: readonly string[],
  timeUp: Promise<unknown>,
): Promise<KernelWalk> {
  const obstacles: Obstacle[] = [];
  let incomplete: string | undefined;
  let isOver = false;
  const walkAll = async (): Promise<void> => {
    for (const query of queriesOf(explained, nodeAddresses)) {
      if (isOver) return;
      const answer = await trace(query);
      if (!isOver && answer.stoppedBy) obstacles.push(obstacleOf(query, answer));
    }
  };
  const late = timeUp.then(() => void (incomplete = 'there was no time to follow all packets'));
  try {
    await Promise.race([walkAll(), late]);
  } catch (error) {
    incomplete = errorMessage(error);
  }
  isOver = true;
  return { obstacles, ...(incomplete !== undefined && { incompleteReason: incomplete }) };
}

function obstacleOf(query: TraceQuery, { outcome, reason = '' }: TraceAnswer): Obstacle {
  return { from: sourceText(query.from), to: destinationText(query), outcome, reason };
}

function queriesOf({ families }: Explained, nodeAddresses: readonly string[]): readonly TraceQuery[] {
  return families.flatMap(({ family, ports }) => {
    const own = nodeAddresses.find((address) => familyOf(address) === family);
    return ports.flatMap((port) => queriesOfPort(port, own));
  });
}

/** From the node, from outside, and from an endpoint on this node as one of its pods. */
function queriesOfPort(explained: PortExplanation, nodeAddress: string | undefined): readonly TraceQuery[] {
  const { protocol, frontends, endpoints } = explained;
  const pod = endpoints.find(({ local }) => local)?.address;
  const forwarding = new Map(
    frontends
      .filter(({ outcome }) => outcome === 'forward')
      .map((frontend) => [frontendName(frontend.address, frontend.port, protocol), frontend]),
  );
  const sourcesOf = ({ kind }: FrontendExplanation): readonly string[] => [
    ...(kind === 'node-port' ? [] : ['node']),
    // The ranges may leave out any made-up address.
    ...(kind === 'load-balancer-ip' && explained.sourceRanges.length > 0 ? [] : ['outside']),
    ...(pod === undefined ? [] : [pod]),
  ];
  return [...forwarding.values()].flatMap((frontend) => {
    const address = frontend.address ?? nodeAddress;
    return address === undefined
      ? []
      : sourcesOf(frontend).map((from) => queryOf(from, address, frontend.port, protocol));
  });
}

/** How this machine itself gets to endpoints. Every call ends within a second or so, and changes no rule. */
export interface EndpointAccess {
  /** Undefined: there is no route to the address. Rejects with a typed error if the kernel cannot be asked. */
  route(address: string): Promise<Route | undefined>;

  /**
   * What the kernel knows of a neighbour: a word of `ip neighbour`, such as `REACHABLE` or `FAILED`; undefined without an entry.
   * Rejects with a typed error if the kernel cannot be asked.
   */
  neighbour(address: string, device: string): Promise<string | undefined>;

  /** Opens a TCP connection and closes it immediately. Returns the reason of a failure, for people; undefined if it can. Never rejects. */
  connect(address: string, port: number): Promise<string | undefined>;

  /** Idempotent. */
  close(): Promise<void>;
}

interface Target {
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** What keeps packets of others than this node from it. */
  readonly obstacle: string | undefined;
}

/** As many are tried: some seconds if all are dead. */
const MOST_PROBED = 256;
const AT_A_TIME = 64;

/** Use case ProbeEndpoints: tries each endpoint that a Service uses once, from this node, many at a time. */
export async function probeEndpoints(
  explained: Explanation,
  access: EndpointAccess,
): Promise<ProbedEndpoints> {
  const all = targetsOf(explained);
  const targets = all.slice(0, MOST_PROBED);
  const probed: ProbedEndpoint[] = [];
  const waiting = targets.entries();
  const worker = async (): Promise<void> => {
    for (const [place, target] of waiting) probed[place] = await probe(target, access);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return { endpoints: probed, omitted: all.length - targets.length };
}

function targetsOf({ families }: Explanation): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const { protocol, endpoints, verdicts } of families.flatMap(({ ports }) => ports)) {
    const off = verdicts.find(({ cause }) => cause === 'ForwardingDisabled');
    const bridged = verdicts.find(({ cause }) => cause === 'BridgeNotFiltered');
    for (const { address, port, used, local } of endpoints) {
      const obstacle = (off ?? (local ? bridged : undefined))?.reason;
      const place = endpointPlace({ address, port });
      if (used) targets.set(`${place} ${protocol}`, { address, port, protocol, obstacle });
    }
  }
  return [...targets.values()];
}

async function probe(target: Target, access: EndpointAccess): Promise<ProbedEndpoint> {
  const { address, port, protocol } = target;
  const identity = { endpoint: endpointPlace(target), protocol };
  try {
    const route = await access.route(address);
    if (!route) return { ...identity, problem: 'no route', facts: ['no route'] };
    const { device, gateway } = route;
    const isTried = protocol === 'TCP';
    const failure = isTried ? await access.connect(address, port) : undefined;
    const obstacle = device === 'lo' ? undefined : target.obstacle;
    const problem = failure ?? obstacle;
    // After the attempt, which makes the kernel look for the neighbour.
    const known = device === 'lo' ? undefined : await access.neighbour(gateway ?? address, device);
    return {
      ...identity,
      ...(problem !== undefined && { problem }),
      facts: [
        failure ?? (isTried ? 'connected' : `not tried, since only TCP can be`),
        ...(obstacle === undefined ? [] : [`from this node; ${obstacle}`]),
        `route through ${device}${gateway === undefined ? '' : ` by ${gateway}`}`,
        ...(device === 'lo' ? [] : [`neighbour ${known ?? 'without an entry'}`]),
      ],
    };
  } catch (error) {
    const problem = `cannot be probed: ${errorMessage(error)}`;
    return { ...identity, problem, facts: [problem] };
  }
}

/** The explanation with what was found in the kernel, and by probing endpoints: its verdict is the worst of all. */
export function withChecks(
  explanation: Explanation,
  kernel: KernelWalk | undefined,
  probe: ProbedEndpoints | undefined,
): Explanation {
  const verdicts = [
    explanation.verdict,
    ...(kernel?.obstacles ?? []).map(({ from, to, outcome, reason }) => blocked(from, to, outcome, reason)),
    ...(probe?.endpoints ?? []).flatMap(({ endpoint, problem }) =>
      problem === undefined ? [] : notReachable(endpoint, problem),
    ),
  ];
  return {
    ...explanation,
    verdict: worstOf(verdicts)!,
    ...(kernel && { kernelPath: kernel }),
    ...(probe && { probe }),
  };
}
