import { expect } from 'expect';
import { after, afterEach, before, describe, it } from 'node:test';
import { NetlinkNodeAddresses } from '../../../../src/adapters/ipvs/netlink-node-addresses.js';
import { NetlinkServiceAddresses } from '../../../../src/adapters/ipvs/netlink-service-addresses.js';
import type { AddressStep } from '../../../../src/adapters/ipvs/service-addresses.js';
import { NetlinkPermissionError } from '../../../../src/adapters/netlink/errors.js';
import { NetlinkSocket } from '../../../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../../../../src/adapters/netlink/protocol.js';
import { asNobody, tool, withoutModules } from './tool.js';

const ip = (command: string): Promise<string> => tool('ip', ...command.split(' '));
const add = (address: string): AddressStep => ({ kind: 'add', address });
const remove = (address: string): AddressStep => ({ kind: 'remove', address });

/** What `ip -br addr` shows of the device: its state and its addresses. */
async function shown(): Promise<readonly string[]> {
  const [, state, ...addresses] = (await ip('-br addr show kube-ipvs0')).trim().split(/\s+/);
  return [state!, ...addresses.sort()];
}

describe('addresses of services over netlink', () => {
  const addresses = new NetlinkServiceAddresses();
  afterEach(() => addresses.removeDevice());
  after(() => addresses.close());

  it('need a kernel that has dummy devices', async () => {
    await withoutModules(() =>
      expect(addresses.ensureDevice()).rejects.toThrow(
        'making the device kube-ipvs0 of type dummy was refused: EOPNOTSUPP: ' +
          'the kernel has no dummy devices: load its module (modprobe dummy)',
      ),
    );
    expect(await addresses.list('IPv4')).toBeUndefined();
    await addresses.removeDevice();
  });

  it('stand on a dummy device that is down, each with its whole length', async () => {
    await addresses.ensureDevice();
    await addresses.ensureDevice();
    const outcomes = await addresses.apply([
      ...['10.96.0.1', '198.18.0.9', 'fd00:96::a'].map(add),
      ...['10.96.0.1', 'fd00:96::a'].map(add),
    ]);
    expect(outcomes).toEqual(Array.from({ length: 5 }));
    expect(await ip('-d link show kube-ipvs0')).toMatch(/<BROADCAST,NOARP> [\s\S]*\bdummy\b/);
    expect(await shown()).toEqual(['DOWN', '10.96.0.1/32', '198.18.0.9/32', 'fd00:96::a/128']);
    expect(await addresses.list('IPv4')).toEqual(['10.96.0.1', '198.18.0.9']);
    expect(await addresses.list('IPv6')).toEqual(['fd00:96::a']);
  });

  it('are removed alone, or with the device', async () => {
    await addresses.ensureDevice();
    await addresses.apply([add('10.96.0.1'), add('10.96.0.2'), add('fd00:96::a')]);
    const outcomes = await addresses.apply([remove('10.96.0.1'), remove('fd00:96::a'), remove('10.96.9.9')]);
    expect(outcomes).toEqual([undefined, undefined, undefined]);
    expect(await shown()).toEqual(['DOWN', '10.96.0.2/32']);
    await addresses.removeDevice();
    await expect(shown()).rejects.toThrow('does not exist');
    await addresses.removeDevice();
  });

  it('are each refused for themselves', async () => {
    const without = await addresses.apply([add('10.96.0.1'), remove('10.96.0.2')]);
    expect(without[0]!.message).toMatch(/^adding the address 10\.96\.0\.1 to kube-ipvs0 was refused: ENODEV/);
    expect(without[1]).toBeUndefined();
    await addresses.ensureDevice();
    const outcomes = await addresses.apply([
      add('224.0.0.1'),
      add('10.96.0.1'),
      add('ff02::1'),
      add('fd00::1'),
    ]);
    expect(outcomes.map((outcome) => outcome?.message)).toEqual([
      undefined, // the kernel takes it
      undefined,
      expect.stringMatching(/^adding the address ff02::1 to kube-ipvs0 was refused: EADDRNOTAVAIL/),
      undefined,
    ]);
    expect(await addresses.list('IPv6')).toEqual(['fd00::1']);
  });

  it('do not go onto a device of another type', async () => {
    await ip('link add kube-ipvs0 type veth peer name other0');
    const reason = 'the device kube-ipvs0 is of type veth, not dummy';
    for (const call of [
      () => addresses.ensureDevice(),
      () => addresses.list('IPv4'),
      () => addresses.apply([add('10.96.0.1')]),
      () => addresses.removeDevice(),
    ])
      await expect(call()).rejects.toThrow(reason);
    await ip('link delete kube-ipvs0');
  });

  it('belong to root', async () => {
    await asNobody(async () => {
      const others = new NetlinkServiceAddresses();
      await expect(others.ensureDevice()).rejects.toThrow(NetlinkPermissionError);
      others.close();
    });
  });

  it('are written and listed by the thousand', async () => {
    await addresses.ensureDevice();
    const many = Array.from({ length: 2000 }, (_, i) => `10.96.${i >> 8}.${i & 255}`);
    expect((await addresses.apply(many.map(add))).filter(Boolean)).toEqual([]);
    expect(new Set(await addresses.list('IPv4'))).toEqual(new Set(many));
  });
});

describe('addresses of the node over netlink', () => {
  const services = new NetlinkServiceAddresses();
  let node: NetlinkNodeAddresses;
  before(async () => {
    node = new NetlinkNodeAddresses();
    await services.ensureDevice();
    await ip('link add eth7 type dummy');
    await ip('link add eth8 type dummy');
    await ip('link set eth7 up');
    await ip('addr add 192.0.2.11/24 dev eth7');
    await ip('addr add 2001:db8::11/64 dev eth7 nodad');
    await ip('addr add 169.254.77.1/30 dev eth8');
    await ip('addr add 10.1.1.1 peer 10.1.1.2 dev eth8');
    await ip('addr add 10.9.9.9/32 dev lo');
    await services.apply([add('10.96.0.1'), add('192.0.2.11'), add('fd00:96::a')]);
  });
  after(async () => {
    node.close();
    await services.removeDevice();
    services.close();
    await ip('link delete eth7');
    await ip('link delete eth8');
    await ip('addr delete 10.9.9.9/32 dev lo');
  });

  it('are those of all other devices, up or down', async () => {
    expect([...(await node.list())].sort()).toEqual([
      '10.1.1.1',
      '10.9.9.9',
      '169.254.77.1',
      '192.0.2.11',
      '2001:db8::11',
    ]);
  });

  it('are known to change when they do', async () => {
    expect(node.changed()).toBe(true);
    expect(node.changed()).toBe(false);
    await ip('addr add 192.0.2.12/24 dev eth7');
    expect(node.changed()).toBe(true);
    await ip('addr delete 192.0.2.12/24 dev eth7');
    expect(node.changed()).toBe(true);
    await ip('addr add 2001:db8::12/64 dev eth8');
    expect(node.changed()).toBe(true);
    expect(node.changed()).toBe(false);
  });

  it('do not change when those of services do, also on a new device', async () => {
    await services.apply([add('10.96.0.2'), remove('10.96.0.1'), add('fd00:96::b')]);
    expect(node.changed()).toBe(false);
    await services.removeDevice();
    await services.ensureDevice();
    await services.apply([add('10.96.0.3')]);
    expect(node.changed()).toBe(false);
  });

  it('may have changed when notices were lost', async () => {
    const watch = new NetlinkNodeAddresses((groups) =>
      NetlinkSocket.open(NETLINK_ROUTE, { groups, receiveBuffer: 1 }),
    );
    await watch.list();
    expect(watch.changed()).toBe(false);
    await services.apply(Array.from({ length: 100 }, (_, i) => add(`10.97.0.${i}`)));
    expect(watch.changed()).toBe(true);
    expect(watch.changed()).toBe(false);
    watch.close();
  });
});
