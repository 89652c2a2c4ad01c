import { Nfacct } from '../../../src/adapters/iptables/iptables-host.js';
import { NetlinkChannel } from '../../../src/adapters/netlink/netlink-channel.js';
import { NETLINK_NETFILTER } from '../../../src/adapters/netlink/protocol.js';
import { Accounting } from '../../simulation/kernel/accounting.js';
import { KernelUnderTest } from '../../simulation/kernel/kernel-under-test.js';
import { Netfilter } from '../../simulation/kernel/netfilter.js';
import { E } from '../../simulation/kernel/netlink/numbers.js';

let accounting: Accounting;
let nfacct: Nfacct;
let changes: number;

beforeEach(() => {
  const kernel = new KernelUnderTest();
  accounting = new Accounting();
  changes = 0;
  accounting.onChange = () => void changes++;
  kernel.protocols.set(NETLINK_NETFILTER, new Netfilter(new Map([[7, accounting]])));
  // The program opens its own socket.
  nfacct = new (Nfacct as unknown as new (channel: NetlinkChannel) => Nfacct)(
    new NetlinkChannel(() => kernel.open(NETLINK_NETFILTER)),
  );
});

it('counts by name, and makes a counter once', async () => {
  expect(await nfacct.packets('ct_state_invalid_dropped_pkts')).toBeUndefined();
  await nfacct.ensure('ct_state_invalid_dropped_pkts');
  expect(await nfacct.packets('ct_state_invalid_dropped_pkts')).toBe(0);
  const object = accounting.objects.get('ct_state_invalid_dropped_pkts')!;
  Object.assign(object, { packets: 5_000_000_000, bytes: 60 });
  await nfacct.ensure('ct_state_invalid_dropped_pkts');
  expect(await nfacct.packets('ct_state_invalid_dropped_pkts')).toBe(5_000_000_000);
  expect(changes).toBe(1);
});

it('does not mind that another program was first', async () => {
  accounting.add('first');
  accounting.refuseNext(E.ENOENT);
  await nfacct.ensure('first');
  expect(changes).toBe(1);
});

it('refuses what it is to refuse', async () => {
  accounting.refuseNext(E.EINVAL);
  await expect(nfacct.ensure('any')).rejects.toThrow('EINVAL');
});
