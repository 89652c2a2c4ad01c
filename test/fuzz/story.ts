import type { Configuration, Mode } from '../model/objects.js';
import { Random, randomService, randomSlices, withOtherField, type RandomService } from './random-cluster.js';
import { proxyMode, type FuzzMode, type IptablesVariant } from './story-node.js';

/**
 * What happens before the Services of a step come: the proxy ends, in order or killed, and another one starts; it starts in another mode;
 * or somebody else removes rules of the proxy.
 */
export type Event = 'restart' | 'kill' | 'foreign' | { readonly mode: Mode };

export interface Step {
  readonly event?: Event;
  /** All Services: what is not here was deleted. */
  readonly services: readonly RandomService[];
}

/** What a fuzz run does on one node, from scratch. */
export interface Story {
  readonly seed: number;
  /** With the mode in which it begins. */
  readonly configuration: Configuration;
  /** The tools that the node uses. */
  readonly iptables: IptablesVariant;
  /** Endpoints answer over TCP. */
  readonly hasServers: boolean;
  readonly steps: readonly Step[];
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
const STEPS = 6;

/** The story of a seed. @param supported the modes of the kernel */
export function storyOf(seed: number, mode: FuzzMode, supported: readonly FuzzMode[]): Story {
  const random = new Random(seed);
  const modes = modesOf(mode, supported);
  const configuration = randomConfiguration(random, random.is(0.2) ? random.one(modes.start) : modes.main);
  let services = Array.from({ length: 6 + random.below(8) }, (_, index) => randomService(random, index + 1));
  const steps: Step[] = [{ services }];
  while (steps.length < STEPS) {
    const isFirst = steps.length === 1 && configuration.mode !== modes.main;
    const event = isFirst ? { mode: modes.main } : randomEvent(random, modes.next);
    // Half of the restarts find nothing to do.
    if (event === undefined || random.is(0.5)) services = changed(random, services);
    steps.push({ ...(event && { event }), services });
  }
  const isUserspace = ({ event }: Step): boolean => typeof event === 'object' && event.mode === 'userspace';
  const needsServers = configuration.mode === 'userspace' || steps.some(isUserspace);
  const iptables = mode === 'iptables-legacy' ? 'legacy' : 'nft';
  return { seed, configuration, iptables, hasServers: needsServers || random.is(0.4), steps };
}

interface StoryModes {
  readonly main: Mode;
  /** Those in which a story may begin. */
  readonly start: readonly Mode[];
  /** Those to which it may change. */
  readonly next: readonly Mode[];
}

/** After IPVS mode, addresses stay with their virtual servers for up to a day (docs/internals/ipvs.md): a story ends in it. */
function modesOf(mode: FuzzMode, supported: readonly FuzzMode[]): StoryModes {
  const main = proxyMode(mode);
  const of = (one: FuzzMode): readonly Mode[] =>
    supported.includes(one) && one !== mode ? [proxyMode(one)] : [];
  const ofIptables = main === 'iptables' ? [] : of('iptables');
  const start = [...of('nftables'), ...ofIptables, ...of('userspace')];
  return { main, start: [main, ...start], next: main === 'ipvs' ? [main] : [main, ...start] };
}

function randomEvent(random: Random, modes: readonly Mode[]): Event | undefined {
  return random.one([
    undefined,
    undefined,
    undefined,
    'restart',
    'kill',
    'foreign',
    { mode: random.one(modes) },
  ]);
}

function changed(random: Random, services: readonly RandomService[]): RandomService[] {
  const next = [...services];
  for (let count = 1 + random.below(3); count > 0; count--) {
    const index = random.below(next.length);
    const { service } = next[index]!;
    const number = numberOf(next[index]!);
    const kind = random.below(6);
    if (kind === 0 && next.length > 1) next.splice(index, 1);
    else if (kind === 1) next.push(randomService(random, 1 + Math.max(...next.map(numberOf))));
    else if (kind === 2) next[index] = randomService(random, number);
    else if (kind === 3) next[index] = withOtherField(random, next[index]!, number);
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

/**
 * The objects of a step as a manifest.
 * @param changes how often they have changed: the port of a Service follows it, so that the proxy is seen to know each change
 */
export function manifestOf({ services }: Step, changes: number): string {
  const metadata = { name: 'changes', namespace: 'default' };
  const spec = { clusterIP: '172.30.20.250', ports: [{ protocol: 'TCP', port: 1000 + changes }] };
  const counter = { apiVersion: 'v1', kind: 'Service', metadata, spec };
  const rest = services.flatMap(({ service, slices }) => [service, ...slices]);
  return [NODE, SERVICE_CIDR, counter, ...rest].map((object) => JSON.stringify(object)).join('\n---\n');
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
    // What others change is found by then.
    ipvs: { syncPeriod: '2s', minSyncPeriod: '0s' },
    ...fields,
  });
}

/** Stories that are simpler by one thing: a step, an event, a Service, or a slice less. The largest cuts come first. */
export function* simpler(story: Story): Generator<Story> {
  const { steps } = story;
  for (let index = 0; index < steps.length - 1; index++)
    yield { ...story, steps: steps.filter((_, place) => place !== index) };
  for (const [index, { event, services }] of steps.entries())
    if (event !== undefined) yield { ...story, steps: steps.with(index, { services }) };
  const ofAll = (change: (services: readonly RandomService[]) => readonly RandomService[]): Story => ({
    ...story,
    steps: steps.map((step) => ({ ...step, services: change(step.services) })),
  });
  for (const number of new Set(steps.flatMap(({ services }) => services.map(numberOf))))
    yield ofAll((services) => services.filter((one) => numberOf(one) !== number));
  for (const [index, step] of steps.entries())
    for (const [place, one] of step.services.entries())
      for (const slice of one.slices) {
        const slices = one.slices.filter((other) => other !== slice);
        const services = step.services.with(place, { ...one, slices });
        yield { ...story, steps: steps.with(index, { ...step, services }) };
      }
}
