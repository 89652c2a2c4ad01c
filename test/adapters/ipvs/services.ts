import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import type { Endpoint } from '../../../src/domain/model/endpoint.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';
import type { Service } from '../../../src/domain/model/service.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { parseCidr } from '../../../src/domain/net/cidr.js';
import { endpoint, service } from '../../support/samples.js';

/** A load-balancer IP with source ranges. */
export const LOAD_BALANCER: Partial<Service> = {
  loadBalancerIPs: [parseAddress('203.0.113.80')!],
  sourceRanges: [parseCidr('198.51.100.0/24')!],
};

/** The service `shop/NAME`, its cluster IP 10.96.0.N for its number in the alphabet, with endpoints in 10.244.1.0/24. */
export function entryOf(
  name: string,
  endpoints: readonly (number | Endpoint)[] = [1],
  parts: Partial<Service> = {},
): ForwardingEntry {
  const clusterIPs = { IPv4: `10.96.0.${name.charCodeAt(0) - 96}` };
  const list = endpoints.map((one) => (typeof one === 'number' ? endpoint(`10.244.1.${one}`) : one));
  const [entry] = forwardService(service({ name, clusterIPs, ...parts }), () => list, {
    family: 'IPv4',
    topology: { nodeName: 'worker-a', zone: '', nodeHints: false },
    nodeIP: '192.0.2.11',
    externalIPsAllowed: true,
  });
  return entry!;
}

export function changed(...entries: readonly ForwardingEntry[]): ForwardingChange[] {
  return entries.map((entry) => ({ key: entry.key, entry }));
}

export function gone(...names: readonly string[]): ForwardingChange[] {
  return names.map((name) => ({ key: keyOf(name), entry: undefined }));
}

export function keyOf(name: string): ServicePortKey {
  return `shop/${name}/tcp/`;
}

/** A virtual server of another program. */
export const foreign = {
  address: '198.51.100.1',
  protocol: 'TCP',
  port: 80,
  scheduler: 'rr',
  flags: 0,
  persistenceSeconds: 0,
} as const;
