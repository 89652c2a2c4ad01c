import { BALANCING_ANNOTATION, WEIGHT_ANNOTATION } from '../../../src/domain/decode/annotations.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import type { PodDescription, ServiceDescription } from './service-description.js';

const THIS_NODE = 'node-1';
const PREFIXES: Readonly<
  Record<IpFamily, Readonly<Record<'service' | 'external' | 'balancer' | 'here' | 'elsewhere', string>>>
> = {
  IPv4: {
    service: '10.96.1.',
    external: '198.51.100.',
    balancer: '203.0.114.',
    here: '10.244.1.',
    elsewhere: '10.244.2.',
  },
  IPv6: {
    service: 'fd00:10:96::1:',
    external: '2001:db8:e::',
    balancer: '2001:db8:b::',
    here: 'fd00:10:244:1::',
    elsewhere: 'fd00:10:244:2::',
  },
};

/** The Service as its user wrote it and the API server completed it. */
export function serviceObject(
  namespace: string,
  name: string,
  description: ServiceDescription,
  families: readonly IpFamily[],
): ApiObject {
  const {
    number,
    type,
    ports,
    externalLocal,
    internalLocal,
    affinity,
    ranges,
    shared = number,
  } = description;
  const annotations = annotationsOf(description, families);
  const own = (kind: 'service' | 'external' | 'balancer') =>
    families.map((family) => `${PREFIXES[family][kind]}${kind === 'service' ? number : shared}`);
  const isExposed = type === 'nodeport' || type === 'balancer';
  const addresses = type === 'headless' ? ['None'] : own('service');
  const spec = {
    type: {
      cluster: 'ClusterIP',
      external: 'ClusterIP',
      headless: 'ClusterIP',
      nodeport: 'NodePort',
      balancer: 'LoadBalancer',
      name: 'ExternalName',
    }[type],
    ...(type === 'name'
      ? { externalName: 'example.org' }
      : {
          clusterIP: addresses[0],
          clusterIPs: addresses,
          ipFamilies: families,
          ipFamilyPolicy: families.length > 1 ? 'RequireDualStack' : 'SingleStack',
        }),
    ports: ports.map((text, index) => {
      const { port, ...named } = parsePort(text);
      return {
        ...named,
        port,
        targetPort: port + 8000,
        ...(isExposed && { nodePort: 30_000 + shared * 10 + index }),
      };
    }),
    sessionAffinity: affinity > 0 ? 'ClientIP' : 'None',
    ...(affinity > 0 && { sessionAffinityConfig: { clientIP: { timeoutSeconds: affinity } } }),
    internalTrafficPolicy: internalLocal ? 'Local' : 'Cluster',
    ...(type === 'external' && { externalIPs: own('external') }),
    ...((isExposed || type === 'external') && { externalTrafficPolicy: externalLocal ? 'Local' : 'Cluster' }),
    ...(type === 'balancer' && externalLocal && { healthCheckNodePort: 32_000 + number }),
    ...(type === 'balancer' &&
      ranges > 0 && { loadBalancerSourceRanges: families.flatMap((family) => rangesOf(family, ranges)) }),
  };
  const status =
    type === 'balancer'
      ? { loadBalancer: { ingress: own('balancer').map((ip) => ({ ip, ipMode: 'VIP' })) } }
      : { loadBalancer: {} };
  const metadata = { namespace, name, ...(Object.keys(annotations).length > 0 && { annotations }) };
  return { apiVersion: 'v1', kind: 'Service', metadata, spec, status };
}

/** So many networks of sources, none of which is beside another one. */
function rangesOf(family: IpFamily, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    family === 'IPv4' ? `203.0.${115 + 2 * index}.0/24` : `2001:db8:c:${2 * index}::/64`,
  );
}

function annotationsOf(
  { pods, method }: ServiceDescription,
  families: readonly IpFamily[],
): Readonly<Record<string, string>> {
  const weights = families.flatMap((family) =>
    pods.flatMap((pod) => (pod.weight === undefined ? [] : [[addressOf(pod, family), pod.weight] as const])),
  );
  return {
    ...(method !== undefined && { [BALANCING_ANNOTATION]: method }),
    ...(weights.length > 0 && { [WEIGHT_ANNOTATION]: JSON.stringify(Object.fromEntries(weights)) }),
  };
}

/** One Service in four has an Endpoints object that was written by hand. The cluster makes its slices from that object. */
function isMirrored({ number }: ServiceDescription): boolean {
  return number % 4 === 1;
}

const MIRRORED = {
  labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io' },
  annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' },
};

/** Its EndpointSlices. */
export function sliceObjects(
  namespace: string,
  name: string,
  description: ServiceDescription,
  families: readonly IpFamily[],
): readonly ApiObject[] {
  const { ports, pods, slices } = description;
  const mirrored = isMirrored(description);
  return families.flatMap((family) =>
    Array.from({ length: slices }, (_, index) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        namespace,
        name: `${name}-${family.toLowerCase()}-${index}`,
        ...(mirrored && { annotations: MIRRORED.annotations }),
        labels: { 'kubernetes.io/service-name': name, ...(mirrored && MIRRORED.labels) },
      },
      addressType: family,
      ports: ports.map((text) => {
        const { port, name: portName = '', protocol } = parsePort(text);
        return { name: portName, protocol, port: port + 8000 };
      }),
      endpoints: pods
        .filter((_pod, at) => at % slices === index)
        .map((pod) => endpointOf(pod, family, mirrored)),
    })),
  );
}

function addressOf({ number, isLocal }: PodDescription, family: IpFamily): string {
  return `${PREFIXES[family][isLocal ? 'here' : 'elsewhere']}${number}`;
}

function endpointOf(pod: PodDescription, family: IpFamily, mirrored: boolean): object {
  const { isLocal, condition, zone } = pod;
  const isTerminating = condition === 'draining' || condition === 'dead';
  return {
    addresses: [addressOf(pod, family)],
    nodeName: isLocal ? THIS_NODE : 'node-2',
    conditions: {
      ready: condition === 'ready',
      // Endpoints objects have no other condition.
      ...((isTerminating || !mirrored) && {
        serving: condition === 'ready' || condition === 'draining',
        terminating: isTerminating,
      }),
    },
    ...(zone && { hints: { forZones: [{ name: `zone-${zone}` }] } }),
  };
}

function parsePort(text: string): {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
} {
  const [, name, port, protocol = 'TCP'] = /^(?:([^:]+):)?(\d+)\/(\w+)$/.exec(text)!;
  return { ...(name !== undefined && { name }), port: Number(port), protocol };
}
