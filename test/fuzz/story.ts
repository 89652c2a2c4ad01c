import type { Configuration, Mode } from '../model/objects.js';
import { Random, randomService, randomSlices, type RandomService } from './random-cluster.js';

/** What a fuzz run does: one proxy process, and the states of the cluster that it meets one after the other. */
export interface Story {
  readonly seed: number;
  readonly configuration: Configuration;
  /** Whole states: what is not in one was deleted. */
  readonly states: readonly (readonly RandomService[])[];
}

const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } },
  spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24', 'fd00:10:244:1::/64'] },
  status: {
    addresses: [
      { type: 'InternalIP', address: '198.51.100.11' },
      { type: 'InternalIP', address: '2001:db8:2::11' },
    ],
  },
};
const SERVICE_CIDR = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['172.30.0.0/16', 'fd00:10:96::/112'] },
};
const STEPS = 5;

/** The story of a seed. */
export function storyOf(seed: number, mode: Mode): Story {
  const random = new Random(seed);
  const states: RandomService[][] = [];
  let services = Array.from({ length: 6 + random.below(8) }, (_, index) => randomService(random, index + 1));
  for (let step = 0; step < STEPS; step++) {
    states.push(services);
    services = changed(random, services);
  }
  return { seed, configuration: randomConfiguration(random, mode), states };
}

function changed(random: Random, services: readonly RandomService[]): RandomService[] {
  const next = [...services];
  for (let count = 1 + random.below(3); count > 0; count--) {
    const index = random.below(next.length);
    const { service } = next[index]!;
    const number = Number(service.metadata.name.slice(1));
    const kind = random.below(4);
    if (kind === 0 && next.length > 1) next.splice(index, 1);
    else if (kind === 1) next.push(randomService(random, 1 + Math.max(...next.map(numberOf))));
    else if (kind === 2) next[index] = randomService(random, number);
    else {
      const { ipFamilies = [], ports = [] } = service.spec;
      next[index] = { service, slices: randomSlices(random, number, ipFamilies, ports) };
    }
  }
  return next;
}

function numberOf({ service }: RandomService): number {
  return Number(service.metadata.name.slice(1));
}

function randomConfiguration(random: Random, mode: Mode): Configuration {
  const masquerade = random.is(0.2) ? { masqueradeAll: true } : {};
  return {
    mode,
    clusterCIDR: random.is(0.15) ? '' : '10.244.0.0/16,fd00:10:244::/56',
    ...(random.is(0.2) && { detectLocalMode: 'NodeCIDR' }),
    ...(random.is(0.3) && {
      nodePortAddresses: random.one([
        ['primary'],
        ['198.51.100.0/24', '2001:db8:2::/64'],
        ['0.0.0.0/0', '::/0'],
      ]),
    }),
    iptables: masquerade,
    nftables: masquerade,
  };
}

/** A state as a manifest. */
export function manifestOf(services: readonly RandomService[]): string {
  const objects = [NODE, SERVICE_CIDR, ...services.flatMap(({ service, slices }) => [service, ...slices])];
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}

/** The configuration file of the proxy. */
export function configurationOf({ configuration }: Story): string {
  const { mode: _, ...fields } = configuration;
  const conntrack = { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' };
  return JSON.stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    hostnameOverride: 'node1',
    conntrack,
    ...fields,
  });
}

/** Stories that are simpler by one thing: a state, a Service, or a slice less. The largest cuts come first. */
export function* simpler(story: Story): Generator<Story> {
  const { states } = story;
  for (let index = 0; index < states.length - 1; index++)
    yield { ...story, states: states.filter((_, place) => place !== index) };
  const names = [...new Set(states.flatMap((state) => state.map(numberOf)))];
  for (const number of names)
    yield { ...story, states: states.map((state) => state.filter((one) => numberOf(one) !== number)) };
  for (const [index, state] of states.entries())
    for (const [place, one] of state.entries())
      for (const slice of one.slices) {
        const slices = one.slices.filter((other) => other !== slice);
        yield { ...story, states: states.with(index, state.with(place, { ...one, slices })) };
      }
}
