import { expect } from 'expect';
import { after, afterEach, describe, it } from 'node:test';
import { NetlinkServiceAddresses } from '../../../../src/adapters/ipvs/netlink-service-addresses.js';
import type { AddressStep } from '../../../../src/adapters/ipvs/ipvs-kernel.js';
import { NetlinkPermissionError } from '../../../../src/adapters/netlink/errors.js';
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
        'creating the device kube-ipvs0 of type dummy was rejected: EOPNOTSUPP: ' +
          'the kernel does not support dummy devices; load the module (modprobe dummy)',
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
    expect(without[0]!.message).toMatch(
      /^adding the address 10\.96\.0\.1 to kube-ipvs0 was rejected: ENODEV/,
    );
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
      expect.stringMatching(/^adding the address ff02::1 to kube-ipvs0 was rejected: EADDRNOTAVAIL/),
      undefined,
    ]);
    expect(await addresses.list('IPv6')).toEqual(['fd00::1']);
  });

  it('do not go onto a device of another type', async () => {
    await ip('link add kube-ipvs0 type veth peer name other0');
    const reason = 'the device kube-ipvs0 has type veth, not dummy';
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
