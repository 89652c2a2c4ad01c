import type { TestService } from './cluster-objects.js';

/** One way for a client to reach a Service of its own. */
export interface Way {
  readonly name: string;
  /** Who connects: a pod, a host outside, or the Service's first endpoint. */
  readonly client: 'pod' | 'ext' | 'endpoint';
  readonly dst: string;
  readonly port: number;
  readonly service: Omit<TestService, 'name' | 'ports' | 'endpoints'> & { readonly nodePort?: number };
}

const NODE = '198.51.100.11';

/** All ways by which connections reach endpoints, for the configuration and the hosts of the test bed. */
export const WAYS: readonly Way[] = [
  way('cluster-ip', 'pod', { clusterIP: '172.30.20.21' }),
  way('cluster-ip-6', 'pod', { clusterIP: 'fd00:30::21' }),
  way('node-port', 'ext', { clusterIP: '172.30.20.22', nodePort: 30122 }),
  way('node-port-local', 'ext', {
    clusterIP: '172.30.20.23',
    nodePort: 30123,
    externalTrafficPolicy: 'Local',
  }),
  way('external-ip', 'ext', { clusterIP: '172.30.20.24', externalIPs: ['192.0.2.24'] }),
  way('external-ip-6', 'ext', { clusterIP: 'fd00:30::25', externalIPs: ['2001:db8:9::25'] }),
  way('load-balancer-ip', 'ext', { clusterIP: '172.30.20.26', loadBalancerIPs: ['192.0.2.26'] }),
  way('hairpin', 'endpoint', { clusterIP: '172.30.20.27' }),
  way('hairpin-6', 'endpoint', { clusterIP: 'fd00:30::27' }),
];

function way(name: string, client: Way['client'], service: Way['service']): Way {
  const { clusterIP, nodePort, externalIPs = [], loadBalancerIPs = [] } = service;
  const [dst = nodePort ? NODE : clusterIP] = [...externalIPs, ...loadBalancerIPs];
  return { name, client, dst, port: nodePort ?? 80, service };
}

/**
 * The Service of a way, with one port of TCP that leads to port 8080.
 * @param endpoints of both families; it gets those of its own
 */
export function serviceOfWay({ name, service }: Way, endpoints: readonly string[]): TestService {
  const { nodePort, ...rest } = service;
  const isIpv6 = service.clusterIP.includes(':');
  return {
    name,
    ...rest,
    ports: [{ name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080, ...(nodePort && { nodePort }) }],
    endpoints: endpoints.filter((address) => address.includes(':') === isIpv6),
  };
}
