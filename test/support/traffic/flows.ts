import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { forwardService, type ForwardingContext } from '../../../src/domain/forwarding/forward-service.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import type { Service } from '../../../src/domain/model/service.js';
import { flowHash } from '../../../src/domain/traffic/sample.js';
import type { SeenFlow } from '../../../src/domain/conntrack/flow.js';
import { endpoint, service } from '../samples.js';

const context: ForwardingContext = {
  family: 'IPv4',
  topology: { nodeName: 'node1', zone: '', nodeHints: false },
  nodeIP: '192.0.2.11',
  externalIPsAllowed: true,
};

export const CART = { address: '10.96.7.1', port: 80 } as const;
export const [FIRST, SECOND] = ['10.244.2.11:8080', '10.244.2.12:8080'] as const;

/** The entry of the only port of a Service, shop/cart if nothing else is said, with these endpoints. */
export function entryOf(
  parts: Partial<Service> = {},
  endpoints: readonly Endpoint[] = [endpoint('10.244.2.11'), endpoint('10.244.2.12')],
): ForwardingEntry {
  return forwardService(service(parts), () => endpoints, context)[0]!;
}

/** A connection of client number `id` to shop/cart that waits for an answer of its first endpoint. */
export function seenFlow(id: number, parts: Partial<SeenFlow> = {}): SeenFlow {
  return {
    id,
    hash: flowHash(0x0a010203, 20_000 + id),
    client: 0x0a010203,
    family: 'IPv4',
    protocol: 'TCP',
    destination: CART.address,
    destinationPort: CART.port,
    replySource: FIRST,
    replied: false,
    closed: false,
    bytes: undefined,
    ...parts,
  };
}
