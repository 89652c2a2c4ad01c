import { ServiceFrontends } from '../../../src/domain/traffic/service-frontends.js';
import { CART, entryOf, FIRST, seenFlow } from '../../support/traffic/flows.js';

const cart = entryOf({ ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }] });
const local = ['192.0.2.11'];

function following(...entries: readonly ReturnType<typeof entryOf>[]): ServiceFrontends {
  const frontends = new ServiceFrontends();
  frontends.follow(entries, local);
  return frontends;
}

const nodePort = { destinationPort: 30080, destination: '192.0.2.11' } as const;

it.each([
  ['to the cluster IP', {}, true],
  ['to the node port on an address of this node', nodePort, true],
  ['to that port elsewhere', { ...nodePort, destination: '192.0.2.99' }, false],
  ['to another port', { destinationPort: 81 }, false],
  ['of another protocol', { protocol: 'UDP' }, false],
  ['of the other family', { family: 'IPv6' }, false],
  ['that nobody translated', { replySource: `${CART.address}:80` }, false],
] as const)('a connection %s belongs to the Service: %#', (_, parts, belongs) => {
  expect(following(cart).ownerOf(seenFlow(1, parts))).toBe(belongs ? cart : undefined);
});

it('follows changes', () => {
  const frontends = following(cart);
  const moved = entryOf({ clusterIPs: { IPv4: '10.96.7.9' } });
  frontends.follow([moved], local);
  expect(frontends.ownerOf(seenFlow(1))).toBeUndefined();
  expect(frontends.ownerOf(seenFlow(1, { destination: '10.96.7.9', replySource: FIRST }))).toBe(moved);
  frontends.follow([], local);
  expect(frontends.ownerOf(seenFlow(1, { destination: '10.96.7.9' }))).toBeUndefined();
  expect([...frontends.entries()]).toEqual([]);
});

it('gives a frontend that several claim to the first by key, and to another one when that is gone', () => {
  const other = entryOf({ name: 'basket' });
  const frontends = following(cart, other);
  expect(frontends.ownerOf(seenFlow(1))).toBe(other);
  frontends.follow([cart], local);
  expect(frontends.ownerOf(seenFlow(1))).toBe(cart);
});
