import { stringify } from 'yaml';
import { testNode, testServiceCidr } from '../../support/testbed/cluster-objects.js';

/** From 0 up to, but not including, 1. */
type Random = () => number;

/** A pod that serves TCP and UDP on port 8080. */
export interface ServingPod {
  readonly name: string;
  readonly address: string;
  /** Whether its node is said to be the one under test. */
  readonly isLocal: boolean;
}

/** Where clients can send to. */
export interface Target {
  readonly address: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

export interface RandomCluster {
  /** In YAML. */
  readonly objects: string;
  readonly targets: readonly Target[];
}

const NODE_IP = '198.51.100.11';
/** Of outside clients, of pods, of the node itself, and of nobody. */
const RANGES = ['198.18.0.0/24', '203.0.113.0/24', '10.244.0.0/16', '198.51.100.0/24', '192.0.2.0/24'];

/** Services of all kinds: frontends, policies, source ranges, affinity, ways of choosing, weights, and endpoints, from none to all of the pods. */
export function randomCluster(random: Random, count: number, pods: readonly ServingPod[]): RandomCluster {
  const objects: object[] = [testNode, testServiceCidr];
  const targets: Target[] = [];
  for (let number = 1; number <= count; number++) {
    const made = randomService(random, number, pods);
    objects.push(...made.objects);
    targets.push(...made.targets);
  }
  return { objects: objects.map((object) => stringify(object)).join('---\n'), targets };
}

function randomService(random: Random, number: number, pods: readonly ServingPod[]) {
  const chance = (share: number): boolean => random() < share;
  const some = <T>(all: readonly T[], share: number): T[] => all.filter(() => chance(share));
  const name = `s${number}`;
  const clusterIP = `172.30.30.${number}`;
  const type = ['ClusterIP', 'NodePort', 'LoadBalancer'][Math.floor(random() * 3)]!;
  const externalIPs = chance(0.3) ? [`203.0.114.${number}`] : [];
  const balancerIPs = type === 'LoadBalancer' ? [`198.51.101.${number}`] : [];
  const nodePort = type === 'ClusterIP' ? 0 : 30_200 + number;
  const isOutside = type !== 'ClusterIP' || externalIPs.length > 0;
  const isLocal = isOutside && chance(0.4);
  const protocols: readonly Target['protocol'][] = chance(0.3)
    ? ['TCP', 'UDP']
    : [chance(0.5) ? 'TCP' : 'UDP'];
  const ports = protocols.map((protocol) => ({
    name: protocol.toLowerCase(),
    protocol,
    port: 80,
    targetPort: 8080,
    ...(nodePort > 0 && { nodePort }),
  }));
  // Few are hashed: that takes thousands of elements for each frontend.
  const method = chance(0.05) ? 'maglev-source' : chance(0.1) ? 'round-robin' : 'random';
  const weights = Object.fromEntries(
    some(pods, 0.3).map(({ address }) => [address, Math.floor(random() * 4)]),
  );
  const annotations = {
    'kube-proxy-ts/load-balancing': method,
    ...(chance(0.2) && { 'kube-proxy-ts/weight': JSON.stringify(weights) }),
  };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', annotations },
    spec: {
      type,
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports,
      ...(externalIPs.length > 0 && { externalIPs }),
      ...(chance(0.3) && { internalTrafficPolicy: 'Local' }),
      ...(isLocal && { externalTrafficPolicy: 'Local' }),
      ...(isLocal && type === 'LoadBalancer' && { healthCheckNodePort: 32_000 + number }),
      ...(type === 'LoadBalancer' && chance(0.5) && { loadBalancerSourceRanges: some(RANGES, 0.4) }),
      ...(chance(0.2) && { sessionAffinity: 'ClientIP' }),
    },
    ...(balancerIPs.length > 0 && {
      status: { loadBalancer: { ingress: balancerIPs.map((ip) => ({ ip, ipMode: 'VIP' })) } },
    }),
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-a`, namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: ports.map(({ name: port, protocol, targetPort }) => ({ name: port, protocol, port: targetPort })),
    endpoints: some(pods, [0, 0.3, 0.6][Math.floor(random() * 3)]!).map(({ address, isLocal: here }) => {
      const ready = chance(0.8);
      return {
        addresses: [address],
        conditions: { ready, serving: true, terminating: !ready },
        nodeName: here ? 'node1' : 'node2',
      };
    }),
  };
  const targets = protocols.flatMap((protocol): Target[] => [
    ...[clusterIP, ...externalIPs, ...balancerIPs].map((address) => ({ address, port: 80, protocol })),
    ...(nodePort > 0 ? [{ address: NODE_IP, port: nodePort, protocol }] : []),
    ...(chance(0.1) ? [{ address: clusterIP, port: 81, protocol }] : []),
  ]);
  return { objects: [service, slice], targets };
}
