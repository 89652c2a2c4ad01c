import { TracedAddresses } from '../../../../src/diagnostics/application/trace/traced-node.js';
import type { Node } from '../../../../src/domain/model/node.js';
import { parseAddress } from '../../../../src/domain/net/address.js';

const machine = { list: () => ['192.0.2.11', '10.1.0.1'], close: () => {} };
const node = (ip: string): Node => ({
  name: 'node1',
  zone: '',
  ips: [parseAddress(ip)!],
  podCIDRs: ['10.7.0.0/24'],
  draining: false,
});

it.each([
  ['there is no Node object', undefined, machine.list()],
  ['one of them is the node’s', node('192.0.2.11'), machine.list()],
  ['the node is another machine', node('192.0.2.99'), ['192.0.2.99', '10.7.0.1', '127.0.0.1', '::1']],
] as const)(
  'addresses of the machine are those of the node, unless that is another one: %s',
  (_, of, expected) => {
    expect(new TracedAddresses(machine, () => of).list()).toEqual(expected);
  },
);

it('closes what it asks for the addresses of the machine', () => {
  let closed = 0;
  new TracedAddresses({ ...machine, close: () => closed++ }, () => undefined).close();
  expect(closed).toBe(1);
});
