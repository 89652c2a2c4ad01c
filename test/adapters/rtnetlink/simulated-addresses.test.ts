import { NetlinkServiceAddresses } from '../../../src/adapters/ipvs/netlink-service-addresses.js';
import { SERVICE_DEVICE } from '../../../src/adapters/ipvs/ipvs-kernel.js';
import { NetlinkChannel } from '../../../src/adapters/netlink/netlink-channel.js';
import { NETLINK_ROUTE } from '../../../src/adapters/netlink/protocol.js';
import { listAddresses, listLinks } from '../../../src/adapters/rtnetlink/rtnetlink.js';
import { NetlinkLocalAddresses } from '../../../src/adapters/rtnetlink/netlink-local-addresses.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { KernelUnderTest } from '../../simulation/kernel/kernel-under-test.js';
import { E } from '../../simulation/kernel/netlink/numbers.js';
import { Links } from '../../simulation/kernel/route/links.js';
import { RouteProtocol } from '../../simulation/kernel/route/route-protocol.js';

function machine() {
  const kernel = new KernelUnderTest();
  const links = new Links();
  const protocol = new RouteProtocol(links, kernel.sockets.multicastOf(NETLINK_ROUTE));
  kernel.protocols.set(NETLINK_ROUTE, protocol);
  links.addLink({ name: 'eth0', kind: '' });
  links.addAddress('eth0', '192.0.2.11', 24);
  links.addAddress('eth0', '2001:db8::11', 64);
  const changes: number[] = [];
  links.onChange = ({ process }) => void changes.push(process);
  const services = new NetlinkServiceAddresses(() => kernel.open(NETLINK_ROUTE));
  const channel = new NetlinkChannel(() => kernel.open(NETLINK_ROUTE));
  return { kernel, links, protocol, changes, services, channel };
}

describe('addresses of Services', () => {
  it('are added to a device that is made for them, and removed', async () => {
    const { services, links, changes, kernel } = machine();
    expect(await services.list('IPv4')).toBeUndefined();
    await services.ensureDevice();
    await services.ensureDevice();
    const added = ['10.96.0.1', 'fd00:96::1', '10.96.0.2'];
    const steps = added.map((address) => ({ kind: 'add', address }) as const);
    expect(await services.apply(steps)).toEqual([undefined, undefined, undefined]);
    expect(await services.apply(steps.slice(0, 1))).toEqual([undefined]);
    expect(await services.list('IPv4')).toEqual(['10.96.0.1', '10.96.0.2']);
    expect(await services.list('IPv6')).toEqual(['fd00:96::1']);
    expect(links.isLocal('fd00:96::1')).toBe(true);
    expect(changes).toEqual(Array.from({ length: 4 }, () => kernel.process));
    await services.apply([
      { kind: 'remove', address: '10.96.0.1' },
      { kind: 'remove', address: '10.96.0.9' },
    ]);
    expect([...links.addresses(SERVICE_DEVICE)].map(({ address }) => address)).toEqual([
      'fd00:96::1',
      '10.96.0.2',
    ]);
    await services.removeDevice();
    await services.removeDevice();
    expect([...links.links()].map(({ name }) => name)).toEqual(['lo', 'eth0']);
    expect(links.isLocal('fd00:96::1')).toBe(false);
  });

  it('are refused one by one where the device is gone, or has another type', async () => {
    const { services, links, protocol } = machine();
    await services.ensureDevice();
    links.removeLink(SERVICE_DEVICE);
    const [added] = await services.apply([{ kind: 'add', address: '10.96.0.1' }]);
    expect(added!.message).toMatch(/ENODEV: ipv4: Device not found/);
    expect(await services.apply([{ kind: 'remove', address: 'fd00:96::1' }])).toEqual([undefined]);
    links.addLink({ name: SERVICE_DEVICE, kind: 'veth' });
    await expect(services.ensureDevice()).rejects.toThrow('has type veth');
    links.removeLink(SERVICE_DEVICE);
    protocol.kinds.delete('dummy');
    await expect(services.ensureDevice()).rejects.toThrow('modprobe dummy');
  });

  it('are refused when that is asked for', async () => {
    const { services, protocol } = machine();
    await services.ensureDevice();
    protocol.refuseNext(E.ENOBUFS);
    const outcomes = await services.apply([
      { kind: 'add', address: '10.96.0.1' },
      { kind: 'add', address: '10.96.0.2' },
    ]);
    expect(outcomes).toEqual([expect.objectContaining({ code: 'ENOBUFS' }), undefined]);
    protocol.refuseQuestions(E.EPERM);
    await expect(services.list('IPv4')).rejects.toThrow('not permitted');
  });
});

describe('addresses of the node', () => {
  it('are followed as they come and go, without those of Services', () => {
    const { kernel, links } = machine();
    links.addLink({ name: SERVICE_DEVICE, kind: 'dummy' });
    links.addAddress(SERVICE_DEVICE, '10.96.0.1', 32);
    let listings = 0;
    const addresses = new NetlinkLocalAddresses(
      SERVICE_DEVICE,
      new FakeClock(),
      new MemoryLogger(),
      (groups) => {
        if (groups === 0) listings++;
        return kernel.open(NETLINK_ROUTE, { groups });
      },
    );
    const first = ['127.0.0.1', '192.0.2.11', '2001:db8::11', '::1'];
    expect(addresses.list()).toEqual(first);
    links.addAddress('eth0', '192.0.2.12', 24);
    links.addAddress(SERVICE_DEVICE, '10.96.0.2', 32);
    expect(addresses.list()).toEqual([...first, '192.0.2.12'].sort());
    links.setUp('eth0', false);
    expect(addresses.list()).toEqual(['127.0.0.1', '192.0.2.11', '192.0.2.12', '::1']);
    links.removeLink('eth0');
    links.removeLink(SERVICE_DEVICE);
    links.addLink({ name: SERVICE_DEVICE, kind: 'dummy' });
    links.addAddress(SERVICE_DEVICE, '10.96.0.3', 32);
    expect(addresses.list()).toEqual(['127.0.0.1', '::1']);
    expect(listings).toBe(1);
    addresses.close();
  });

  it('are read again when notifications were lost', () => {
    const { kernel, links } = machine();
    let listings = 0;
    const open = (groups: number) => {
      if (groups === 0) listings++;
      return kernel.open(NETLINK_ROUTE, { groups });
    };
    const addresses = new NetlinkLocalAddresses(SERVICE_DEVICE, new FakeClock(), new MemoryLogger(), open);
    addresses.list();
    kernel.sockets.loseNotifications(NETLINK_ROUTE);
    links.addAddress('eth0', '192.0.2.12', 24);
    expect(addresses.list()).toContain('192.0.2.12');
    expect(listings).toBe(2);
    addresses.close();
  });

  it('say that they changed while they were listed', async () => {
    const { links, channel } = machine();
    for (let host = 1; host <= 200; host++) links.addAddress('eth0', `198.51.100.${host}`, 32);
    expect(await listAddresses(channel)).toHaveLength(204);
    let changes = 0;
    // A change between any two datagrams of the first listing.
    const found = listAddresses(channel, 'IPv4');
    void Promise.resolve().then(() => {
      changes++;
      links.removeAddress('eth0', '198.51.100.1');
    });
    expect(await found).toHaveLength(201);
    expect(changes).toBe(1);
  });

  it('belong to devices that are listed', async () => {
    const { channel, links } = machine();
    links.setUp('eth0', false);
    expect(await listLinks(channel)).toMatchObject([
      { index: 1, name: 'lo', kind: '', flags: 0x10049 },
      { index: 2, name: 'eth0', kind: '', flags: 0x1002 },
    ]);
    await channel.close();
  });
});
