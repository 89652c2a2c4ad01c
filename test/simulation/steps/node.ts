import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';
import { ADDRESSES } from '../world/settings.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

const SECOND: Readonly<Record<IpFamily, string>> = { IPv4: '192.0.2.13', IPv6: '2001:db8::13' };
const LENGTH: Readonly<Record<IpFamily, number>> = { IPv4: 24, IPv6: 64 };
/** In no network that any argument names. */
const ELSEWHERE: Readonly<Record<IpFamily, string>> = { IPv4: '198.51.99.7', IPv6: '2001:db8:99::7' };
/** In place of that with which the world begins. */
const RENUMBERED: Readonly<Record<IpFamily, string>> = { IPv4: '192.0.2.14', IPv6: '2001:db8::14' };
const DEVICE = 'eth0';
const NODES = '/api/v1/nodes';

/** Addresses that the node of a world may have besides the one of its Node object, or may have had. */
export const OTHER_ADDRESSES = (['IPv4', 'IPv6'] as const).flatMap((family) => [
  ADDRESSES[family].node,
  ...[SECOND, ELSEWHERE, RENUMBERED].map((addresses) => addresses[family]),
]);

const CHANGES: Readonly<Record<string, (simulation: Simulation, family: IpFamily) => void>> = {
  'second-address': ({ world: { machine } }, family) =>
    void machine.links.addAddress(DEVICE, SECOND[family], LENGTH[family]),
  'second-address-gone': ({ world: { machine } }, family) =>
    void machine.links.removeAddress(DEVICE, SECOND[family]),
  'address-elsewhere': ({ world: { machine } }, family) =>
    void machine.links.addAddress(DEVICE, ELSEWHERE[family], LENGTH[family]),
  'address-elsewhere-gone': ({ world: { machine } }, family) =>
    void machine.links.removeAddress(DEVICE, ELSEWHERE[family]),
  /** The node gets another address, then its Node object, and then it loses the former one; next time it goes back. */
  renumbered: (simulation, family) => {
    const { cluster, history, everyCommit, world } = simulation;
    const { machine, scheduler, fate } = world;
    const former = cluster.nodeAddresses[family];
    const address = former === RENUMBERED[family] ? ADDRESSES[family].node : RENUMBERED[family];
    everyCommit.damage(() => {
      machine.links.addAddress(DEVICE, address, LENGTH[family]);
      cluster.nodeAddresses[family] = address;
      history.renumber(family, address);
      cluster.putNode();
    }, true);
    const loseFormer = (): void => {
      // It may be back by then.
      if (cluster.nodeAddresses[family] !== former) machine.links.removeAddress(DEVICE, former);
    };
    scheduler.after(1_000, loseFormer, fate);
  },
  /** It keeps its addresses of IPv4; the kernel takes those of IPv6 away, and whoever configures it brings them back. */
  'link-down': (simulation) => {
    const { machine } = simulation.world;
    const lost = [...machine.links.addresses(DEVICE)].filter(({ address }) => address.includes(':'));
    simulation.everyCommit.damage(() => void machine.links.setUp(DEVICE, false), lost.length > 0);
    const back = (): void => {
      machine.links.setUp(DEVICE, true);
      for (const { address, prefixLength } of lost) machine.links.addAddress(DEVICE, address, prefixLength);
    };
    machine.endAfter(3_000, back);
  },
  /** As when an address is renewed too late: it is gone for a moment. */
  'address-lost': (simulation, family) => {
    const { machine } = simulation.world;
    const node = simulation.cluster.nodeAddresses[family];
    simulation.everyCommit.damage(() => void machine.links.removeAddress(DEVICE, node), true);
    machine.endAfter(2_000, () => void machine.links.addAddress(DEVICE, node, LENGTH[family]));
  },
  'pod-device': ({ world: { machine } }) => void machine.links.addLink({ name: 'veth7', kind: 'veth' }),
  'pod-device-down': ({ world: { machine } }) => void machine.links.setUp('veth7', false),
  'pod-device-gone': ({ world: { machine } }) => void machine.links.removeLink('veth7'),
  /** Its last version is kept (docs/behavior/life-cycle.md), until it is registered again. */
  'object-deleted': ({ cluster, world }) => {
    const { nodeName } = world.settings;
    if (!cluster.api.store.get(NODES, undefined, nodeName)) return;
    cluster.remove('v1', 'Node', nodeName);
    world.machine.endAfter(world.random.between(10, 20_000), () => void cluster.putNode());
  },
  labeled: ({ cluster, world }) => void cluster.putNode({ pool: `p${world.random.between(1, 3)}` }),
};

/** What happens to the Node object. */
const OF_OBJECT: ReadonlySet<string> = new Set(['renumbered', 'object-deleted']);

/** Devices and addresses of the node come and go. */
export const node: StepKind = {
  name: 'node',
  weight: 2,
  plan: (plan) => {
    const { random, settings } = plan;
    const change = plan.pick('node', Object.keys(CHANGES));
    // A Node object in a manifest stays as it is.
    if (OF_OBJECT.has(change) && settings.source === 'manifests') return undefined;
    return [change, random.pick(settings.families)];
  },
  perform(simulation, [name = '', family = 'IPv4']) {
    const change = CHANGES[name];
    if (!change)
      throw new Error(
        `nothing that happens to the node is called ${name}; there are ${Object.keys(CHANGES).join(', ')}`,
      );
    change(simulation, family as IpFamily);
  },
};

/** What modes set, without which they do not start. */
const NEEDED: Readonly<Record<string, string>> = {
  '/proc/sys/net/ipv4/conf/all/route_localnet': '1',
  '/proc/sys/net/ipv4/vs/conntrack': '1',
  '/proc/sys/net/ipv4/vs/expire_nodest_conn': '1',
  '/proc/sys/net/ipv4/vs/expire_quiescent_template': '1',
};

/** Sysctls are what they should be and cannot be written from now on, as in a container that is not privileged. */
export const readOnly: StepKind = {
  name: 'sysctls-read-only',
  weight: 0.5,
  plan: () => [],
  perform({ world: { files } }) {
    for (const path of files.paths('/proc/sys/net/ipv')) {
      const content = NEEDED[path] ?? files.read(path);
      files.mount(path, { read: () => content, isReadOnly: true });
    }
  },
};
