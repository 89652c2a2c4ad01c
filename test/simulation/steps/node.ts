import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';
import { ADDRESSES } from '../world/settings.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

const SECOND: Readonly<Record<IpFamily, string>> = { IPv4: '192.0.2.13', IPv6: '2001:db8::13' };
const LENGTH: Readonly<Record<IpFamily, number>> = { IPv4: 24, IPv6: 64 };
const DEVICE = 'eth0';

const CHANGES: Readonly<Record<string, (simulation: Simulation, family: IpFamily) => void>> = {
  'second-address': ({ world: { machine } }, family) =>
    void machine.links.addAddress(DEVICE, SECOND[family], LENGTH[family]),
  'second-address-gone': ({ world: { machine } }, family) =>
    void machine.links.removeAddress(DEVICE, SECOND[family]),
  /** As when an address is renewed too late: it is gone for a moment. */
  'address-lost': (simulation, family) => {
    const { machine } = simulation.world;
    const { node } = ADDRESSES[family];
    simulation.everyCommit.damage(() => void machine.links.removeAddress(DEVICE, node), true);
    machine.endAfter(2_000, () => void machine.links.addAddress(DEVICE, node, LENGTH[family]));
  },
  'pod-device': ({ world: { machine } }) => void machine.links.addLink({ name: 'veth7', kind: 'veth' }),
  'pod-device-down': ({ world: { machine } }) => void machine.links.setUp('veth7', false),
  'pod-device-gone': ({ world: { machine } }) => void machine.links.removeLink('veth7'),
  labeled: ({ cluster, world }) => void cluster.putNode({ pool: `p${world.random.between(1, 3)}` }),
};

/** Devices and addresses of the node come and go. */
export const node: StepKind = {
  name: 'node',
  weight: 2,
  plan: ({ random, settings }) => [random.pick(Object.keys(CHANGES)), random.pick(settings.families)],
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
