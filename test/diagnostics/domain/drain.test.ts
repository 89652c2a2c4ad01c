import {
  drainPlace,
  drainStatus,
  type NodeDrain,
  type NodeEndpoint,
} from '../../../src/diagnostics/domain/drain.js';

const ADDRESS = '10.244.1.7';

function endpointOf(parts: Partial<NodeEndpoint> = {}): NodeEndpoint {
  return {
    address: ADDRESS,
    port: 8080,
    protocol: 'TCP',
    services: ['shop/web:http'],
    openConnections: 0,
    inUse: false,
    ...parts,
  };
}

function nodeOf(node: string, endpoints: readonly NodeEndpoint[], parts: Partial<NodeDrain> = {}): NodeDrain {
  return { node, endpoints, addresses: [...new Set(endpoints.map(({ address }) => address))], ...parts };
}

const clean = [nodeOf('n1', [endpointOf()]), nodeOf('n2', [endpointOf()])];

it('is safe once every node has answered, sees its connections, and has none', () => {
  const { safe, endpoints } = drainStatus(clean);
  expect(safe).toBe(true);
  expect(endpoints).toEqual([
    {
      ...{ address: ADDRESS, port: 8080, protocol: 'TCP', services: ['shop/web:http'] },
      ...{ openConnections: 0, nodes: [], unawareNodes: [], state: 'safe' },
    },
  ]);
  expect(endpoints.map(drainPlace)).toEqual(['10.244.1.7:8080/TCP']);
});

it('adds up the connections of all nodes, and names these', () => {
  const since = '2026-05-04T10:00:00.000Z';
  const { safe, endpoints } = drainStatus([
    nodeOf('n1', [endpointOf({ openConnections: 2, pod: 'shop/web-1', nodeName: 'n3' })]),
    nodeOf('n2', [endpointOf({ terminatingSinceTime: since })]),
    nodeOf('n3', [endpointOf({ openConnections: 1, services: ['shop/api'] })]),
  ]);
  expect(safe).toBe(false);
  expect(endpoints).toMatchObject([
    {
      ...{ pod: 'shop/web-1', nodeName: 'n3', services: ['shop/api', 'shop/web:http'] },
      ...{ state: 'draining', openConnections: 3, terminatingSinceTime: since },
      nodes: [
        { node: 'n1', openConnections: 2, inUse: false },
        { node: 'n3', openConnections: 1, inUse: false },
      ],
    },
  ]);
});

it('is in use while one node may lead new connections there, with or without any now', () => {
  const { safe, endpoints } = drainStatus([...clean, nodeOf('n3', [endpointOf({ inUse: true })])]);
  expect(safe).toBe(false);
  expect(endpoints).toMatchObject([
    { state: 'in-use', nodes: [{ node: 'n3', openConnections: 0, inUse: true }] },
  ]);
});

it.each([
  ['a node has not answered', clean, false, []],
  [
    'a node does not see its connections',
    [...clean, nodeOf('n3', [endpointOf()], { unseenReason: 'userspace mode' })],
    true,
    [],
  ],
  ['a node does not know the endpoint', [...clean, nodeOf('n3', [])], true, ['n3']],
])('is never safe while %s', (_, answers, isComplete, unawareNodes) => {
  const { safe, endpoints } = drainStatus(answers, isComplete);
  expect(safe).toBe(false);
  expect(endpoints).toMatchObject([{ state: 'unknown', unawareNodes }]);
});

it('is not safe without endpoints, either, while a node has not answered', () => {
  expect(drainStatus([], false).safe).toBe(false);
  expect(drainStatus([nodeOf('n1', [])]).safe).toBe(true);
  expect(drainStatus([nodeOf('n1', [], { unseenReason: 'no permission' })])).toMatchObject({
    safe: false,
    unseenNodes: [{ node: 'n1', reason: 'no permission' }],
  });
});

it('lists the endpoint with the most connections first; ports and protocols are endpoints of their own', () => {
  const { endpoints } = drainStatus([
    nodeOf('n1', [endpointOf(), endpointOf({ port: 53, protocol: 'UDP', openConnections: 4 })]),
    nodeOf('n2', [endpointOf({ port: 53, openConnections: 1 })], { addresses: [ADDRESS] }),
  ]);
  expect(endpoints.map((one) => [drainPlace(one), one.openConnections])).toEqual([
    ['10.244.1.7:53/UDP', 4],
    ['10.244.1.7:53/TCP', 1],
    ['10.244.1.7:8080/TCP', 0],
  ]);
});
