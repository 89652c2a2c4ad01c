import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { rawService, rawSlice } from '../../support/objects.js';
import { Bench, NODE_NAME } from './bench.js';

const CART = { namespace: 'shop', name: 'cart' };
const SLICE = { namespace: 'shop', name: 'cart-1' };

const rawNode = (name: string) => ({ metadata: { name }, status: {} });
const ENDPOINTS = {
  metadata: CART,
  subsets: [{ addresses: [{ ip: '10.244.1.5' }], ports: [{ port: 8080 }] }],
};

/** Every kind of event once. */
function deliver({ events }: Bench): void {
  const renamed = { metadata: { ...CART, labels: { a: 'b' } } };
  events.applied('Service', rawService());
  events.applied('Service', rawService({ sessionAffinity: 'ClientIP' }));
  events.applied('Service', rawService({ type: 'ExternalName' }, renamed));
  events.applied('Service', rawService({ ports: 'none' }));
  events.deleted('Service', CART);
  events.applied('EndpointSlice', rawSlice());
  events.applied('EndpointSlice', rawSlice());
  events.deleted('EndpointSlice', SLICE);
  events.applied('Node', rawNode(NODE_NAME));
  events.applied('Node', rawNode(NODE_NAME));
  events.applied('Node', rawNode('other'));
  events.deleted('Node', { namespace: '', name: NODE_NAME });
  for (const kind of ['Service', 'EndpointSlice', 'Node'] as const) events.synced(kind);
}

const calls = (logger: MemoryLogger) =>
  logger.lines.flatMap(({ level, message, facts }) =>
    /^v[34]$/.test(level) ? [[level, message, ...Object.values(facts)].join(' ')] : [],
  );

it('use cases are logged as kube-proxy logs them: lists from -v 3, calls of handlers from -v 4', () => {
  const logger = new MemoryLogger([], {}, 4);
  deliver(new Bench({ logger }));
  expect(calls(logger)).toEqual([
    'v4 Calling handler.OnServiceAdd shop/cart',
    'v4 Calling handler.OnServiceUpdate shop/cart',
    'v4 Calling handler.OnServiceUpdate shop/cart',
    'v4 Calling handler.OnServiceDelete shop/cart',
    'v4 Calling handler.OnEndpointSliceAdd shop/cart-1',
    'v4 Calling handler.OnEndpointSliceUpdate shop/cart-1',
    'v4 Calling handler.OnEndpointSliceDelete shop/cart-1',
    'v4 Calling handler.OnNodeAdd n1',
    'v4 Calling handler.OnNodeUpdate n1',
    'v4 Calling handler.OnNodeDelete n1',
    'v3 Calling handler.OnServiceSynced()',
    'v3 Calling handler.OnEndpointSlicesSynced()',
    'v3 Calling handler.OnNodeSynced()',
  ]);
});

it('an object that was deleted and comes again is added again, and so is one that was not needed at first', () => {
  const logger = new MemoryLogger([], {}, 4);
  const { events } = new Bench({ logger });
  events.applied('Service', rawService({ clusterIP: 'None', clusterIPs: ['None'] }));
  events.applied('Service', rawService());
  events.deleted('Service', CART);
  events.applied('Service', rawService());
  expect(calls(logger).map((line) => line.split(' ')[2])).toEqual([
    'handler.OnServiceAdd',
    'handler.OnServiceUpdate',
    'handler.OnServiceDelete',
    'handler.OnServiceAdd',
  ]);
});

it('Endpoints are handled as the slices that they stand for', () => {
  const logger = new MemoryLogger([], {}, 4);
  const { events } = new Bench({ logger });
  events.applied('Endpoints', ENDPOINTS);
  events.applied('Endpoints', ENDPOINTS);
  events.deleted('Endpoints', CART);
  expect(calls(logger).map((line) => line.split(' ')[2])).toEqual([
    'handler.OnEndpointSliceAdd',
    'handler.OnEndpointSliceUpdate',
    'handler.OnEndpointSliceDelete',
  ]);
});

it('results are logged from -v 5: which families each event concerns', () => {
  const logger = new MemoryLogger([], {}, 5);
  const { events } = new Bench({ logger });
  events.applied('Service', rawService());
  events.applied('Service', rawService());
  expect(logger.at('v5').map(({ message, facts }) => [message, facts])).toEqual([
    ['Service event handled', { service: 'shop/cart', families: ['IPv4'] }],
    ['Service event handled', { service: 'shop/cart', families: [] }],
  ]);
});

it('nothing of it is logged at -v 2, nor with a log that has no higher verbosity', () => {
  const plain = new MemoryLogger();
  const bare = Object.assign(new MemoryLogger(), { verbose: undefined });
  for (const logger of [plain, bare]) {
    deliver(new Bench({ logger }));
    expect(calls(logger)).toEqual([]);
    expect(logger.at('debug')).toEqual([]);
  }
});
