import { NetlinkNftTransport } from '../../../../src/adapters/nftables/netlink/netlink-transport.js';
import { NetlinkSocket } from '../../../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../../../../src/adapters/netlink/protocol.js';
import type { Operation, SetDefinition, SetElement } from '../../../../src/domain/nftables/layout/table.js';
import { Sockets } from '../sockets.js';
import { Netfilter } from '../netfilter.js';
import { NfTables } from './nf-tables.js';

const PORTS: SetDefinition = { name: 'ports', key: ['protocol', 'port'], value: ['priority'] };
const TABLE: Operation = { op: 'add-table', comment: 'rules for kube-proxy' };

function ports(first: number, count: number): SetElement[] {
  return Array.from({ length: count }, (_, index) => ({ key: `tcp . ${first + index}`, value: '8001:2' }));
}

function machine(release = '6.18') {
  const nf = new NfTables({ now: () => 0, release });
  const sockets = new Sockets({
    protocols: new Map([[NETLINK_NETFILTER, new Netfilter(new Map([[10, nf]]))]]),
  });
  const libc = sockets.libraryOf({
    pid: 42,
    isAlive: () => true,
    soon: (run) => void setImmediate(run),
    raise: () => undefined,
    exit: () => undefined,
  });
  const transport = NetlinkNftTransport.open(() => NetlinkSocket.open(NETLINK_NETFILTER, { libc }));
  return { nf, sockets, libc, transport };
}

it('takes a table from the program, and gives it back', async () => {
  const { transport, nf } = machine();
  const generation = await transport.commit('IPv4', [
    TABLE,
    { op: 'add-set', set: PORTS },
    { op: 'add-elements', set: PORTS, elements: ports(1, 1000) },
  ]);
  expect(generation).toBe(nf.generation);
  const state = await transport.read('IPv4', [PORTS]);
  expect(state?.sets.get('ports')?.elements.size).toBe(1000);
  await expect(
    transport.commit('IPv4', [
      { op: 'add-elements', set: PORTS, elements: [{ key: 'tcp . 7', value: '9:9' }] },
    ]),
  ).rejects.toMatchObject({ failures: [{ operation: 0, element: 0, reason: 'EEXIST' }] });
  expect(await transport.lookUp('IPv4', PORTS, ['tcp . 5', 'tcp . 5000'])).toEqual(
    new Map([['tcp . 5', expect.objectContaining({ key: 'tcp . 5', value: '8001:2' })]]),
  );
  for (let round = 0; round < 100; round++)
    await transport.commit('IPv4', [{ op: 'add-elements', set: PORTS, elements: ports(2000 + round, 1) }]);
});
