import { endpointPlace } from '../../../domain/model/endpoint.js';
import type { EndpointAddress } from '../../../domain/userspace/round-robin.js';
import { DialError } from '../errors.js';

/** How long each attempt may take, in milliseconds (docs/spec/userspace.md §3.1). */
const DIAL_TIMEOUTS: readonly number[] = [250, 500, 1_000, 2_000];

export interface Dialled<Connection> {
  readonly endpoint: EndpointAddress;
  readonly connection: Connection;
}

/**
 * Connects to an endpoint; when one does not answer, to the next.
 * @param choose the endpoint to try; `afresh` after one that did not answer. What it throws ends the attempts.
 * @throws DialError when all attempts failed
 */
export async function dial<Connection>(
  choose: (afresh: boolean) => EndpointAddress,
  connect: (endpoint: EndpointAddress, timeoutMilliseconds: number) => Promise<Connection>,
): Promise<Dialled<Connection>> {
  const attempts: { endpoint: string; reason: unknown }[] = [];
  for (const timeout of DIAL_TIMEOUTS) {
    const endpoint = choose(attempts.length > 0);
    try {
      return { endpoint, connection: await connect(endpoint, timeout) };
    } catch (reason) {
      attempts.push({ endpoint: endpointPlace(endpoint), reason });
    }
  }
  throw new DialError(attempts);
}
