import { endpointPlace } from '../../../../domain/model/endpoint.js';
import type { Protocol } from '../../../../domain/model/service-port-name.js';
import { errorMessage } from '../../../../application/error-message.js';
import type { EndpointAccess } from '../../ports/endpoint-access.js';
import type { ProbedEndpoint, ProbedEndpoints } from './results.js';
import type { Explanation } from '../explanation.js';

interface Target {
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** What keeps packets of others than this node from it. */
  readonly obstacle: string | undefined;
}

/** As many are tried: some seconds if all are dead. */
const MOST = 256;
const AT_A_TIME = 64;

/** Use case ProbeEndpoints: tries each endpoint that a Service uses once, from this node, many at a time. */
export async function probeEndpoints(
  explained: Explanation,
  access: EndpointAccess,
): Promise<ProbedEndpoints> {
  const all = targetsOf(explained);
  const targets = all.slice(0, MOST);
  const probed: ProbedEndpoint[] = [];
  const waiting = targets.entries();
  const worker = async (): Promise<void> => {
    for (const [place, target] of waiting) probed[place] = await probe(target, access);
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  return { probed, left: all.length - targets.length };
}

function targetsOf({ families }: Explanation): readonly Target[] {
  const targets = new Map<string, Target>();
  for (const { protocol, endpoints, findings } of families.flatMap(({ ports }) => ports)) {
    const off = findings.find(({ kind }) => kind === 'not-forwarded');
    const bridged = findings.find(({ kind }) => kind === 'bridged');
    for (const { address, port, used, isLocal } of endpoints) {
      const obstacle = (off ?? (isLocal ? bridged : undefined))?.text;
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
