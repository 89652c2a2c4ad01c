import { rejectedPackets, readCounters } from '../../../src/adapters/nftables/netlink/counters.js';
import { TransportUnderTest } from './transport-under-test.js';

it('are what the named counters of our table have counted', async () => {
  const { signal } = new AbortController();
  const place = new TransportUnderTest();
  const read = (family: 'IPv4' | 'IPv6') =>
    rejectedPackets(family, signal, (of) => readCounters(of, signal, () => place.openSocket()));
  expect(await read('IPv4')).toEqual(new Map());
  await place.open().commit('IPv4', [
    { op: 'add-table', comment: 'rules for kube-proxy' },
    { op: 'add-counter', counter: 'localhost-nodeport-rejected-udp' },
    { op: 'add-counter', counter: 'another' },
  ]);
  expect(await read('IPv4')).toEqual(new Map([['UDP', 0]]));
  expect(await read('IPv6')).toEqual(new Map());
});
