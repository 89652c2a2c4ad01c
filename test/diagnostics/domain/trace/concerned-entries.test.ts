import { ConcernedEntries } from '../../../../src/diagnostics/domain/walk/desired-walk.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import { endpoint } from '../../../support/samples.js';
import { entryOf } from '../../../support/traffic/flows.js';

const cart = entryOf(
  { healthCheckNodePort: 32_111, ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30_080 }] },
  [endpoint('10.244.2.11', { isLocal: true }), endpoint('10.244.3.12')],
);
const behind = entryOf({ name: 'behind', clusterIPs: { IPv4: '10.96.7.2' } }, [
  endpoint('10.96.7.1', { port: 80 }),
]);
const concerned = new ConcernedEntries([cart, behind]);
const elsewhere: Packet = {
  family: 'IPv4',
  inputInterface: undefined,
  source: '203.0.113.9',
  destination: '203.0.113.10',
  protocol: 'TCP',
  destinationPort: 443,
};

it.each<[string, Partial<Packet>, ReturnType<typeof entryOf>[]]>([
  ['none at all', {}, []],
  ['to its cluster IP', { destination: '10.96.7.1' }, [cart]],
  ['from its cluster IP', { source: '10.96.7.1' }, [cart]],
  ['to its node port', { destinationPort: 30_080 }, [cart]],
  ['to the port of its health check', { destinationPort: 32_111 }, [cart]],
  ['from an endpoint on this node', { source: '10.244.2.11' }, [cart]],
  ['from an endpoint elsewhere', { source: '10.244.3.12' }, []],
  ['to a Service whose endpoint it is', { destination: '10.96.7.2' }, [behind, cart]],
])('a packet concerns an entry: %s', (_, parts, entries) => {
  expect([...concerned.of({ ...elsewhere, ...parts })]).toEqual(entries);
});
