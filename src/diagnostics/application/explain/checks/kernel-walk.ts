import { frontendName } from '../../../../domain/forwarding/frontend-name.js';
import { destinationText, queryOf, sourceText, type TraceQuery } from '../../../domain/trace/query.js';
import { errorMessage } from '../../../../application/error-message.js';
import type { TraceAnswer } from '../../trace/answer.js';
import type { KernelWalk, Obstacle } from './results.js';
import type { Explanation, FrontendExplanation, PortExplanation } from '../explanation.js';
import { familyOf } from '../../../../domain/net/ip-family.js';

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
  return { obstacles, ...(incomplete !== undefined && { incomplete }) };
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
  const pod = endpoints.find(({ isLocal }) => isLocal)?.address;
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
