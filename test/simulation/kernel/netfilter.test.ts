import { NetlinkChannel } from '../../../src/adapters/netlink/netlink-channel.js';
import { NETLINK_NETFILTER } from '../../../src/adapters/netlink/protocol.js';
import { IpSetHeaders } from './ip-set-headers.js';
import { KernelUnderTest } from './kernel-under-test.js';
import { Netfilter, SUBSYSTEM } from './netfilter.js';
import { EINVAL, ENOENT } from './netlink/numbers.js';

const IPSET_HEADER = (6 << 8) | 12;

function machine(isPermitted = true) {
  const kernel = new KernelUnderTest();
  const sets = new IpSetHeaders((name) =>
    name === 'KUBE-CLUSTER-IP' ? { type: 'hash:ip,port', family: 'IPv4' } : undefined,
  );
  const netfilter = new Netfilter(new Map([[SUBSYSTEM.IPSET, sets]]), () => isPermitted);
  kernel.protocols.set(NETLINK_NETFILTER, netfilter);
  const channel = new NetlinkChannel(() => kernel.open(NETLINK_NETFILTER));
  return async (type: number, name: string): Promise<number> => {
    const [reply] = await channel.perform([
      {
        type,
        attempt: 'asking',
        put: (writer) => {
          writer.putWord(0);
          writer.putU8(1, 6);
          writer.putText(2, name);
        },
      },
    ]);
    return reply!.errno;
  };
}

it('says whether there is a set', async () => {
  const ask = machine();
  expect(await ask(IPSET_HEADER, 'KUBE-CLUSTER-IP')).toBe(0);
  expect(await ask(IPSET_HEADER, 'KUBE-LOOP-BACK')).toBe(ENOENT);
});

it('knows only the subsystems that it has', async () => {
  expect(await machine()((7 << 8) | 1, 'counter')).toBe(EINVAL);
});

it('tells nothing to those who may change nothing', async () => {
  await expect(machine(false)(IPSET_HEADER, 'KUBE-CLUSTER-IP')).rejects.toThrow('not permitted');
});
