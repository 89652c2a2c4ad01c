import type { ServicePortFlows } from '../conntrack/service-port-flows.js';
import type { Frontend } from '../forwarding/forwarding-entry.js';
import { frontendAddress } from '../conntrack/frontend-map.js';
import { hostPort } from '../net/address.js';

/**
 * What a UDP service port means to the flows of its clients when a proxy answers for its endpoints: the kernel leads
 * them to the proxy port, under one of the addresses of this machine.
 */
export function proxiedFlows(
  frontends: readonly Frontend[],
  addresses: readonly string[],
  proxyPort: number,
): ServicePortFlows {
  return {
    frontends: frontends.map(frontendAddress),
    endpoints: new Set(addresses.map((address) => hostPort(address, proxyPort))),
  };
}
