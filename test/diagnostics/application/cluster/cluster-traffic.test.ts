import { sumTraffic } from '../../../../src/diagnostics/application/cluster/cluster-activity.js';
import { trafficOf, trafficReport } from './samples.js';

const counts = (
  name: string,
  openConnections: number,
  newConnectionsPerSecond = 0,
  unansweredConnections = 0,
) => ({
  ...{ namespace: 'shop', name, portName: 'http', protocol: 'TCP' },
  ...{ openConnections, newConnectionsPerSecond, unansweredConnections },
});

it('adds up nodes and families, the most open connections first, then the most new ones, then by name', () => {
  const { services, untrackedNodes } = sumTraffic([
    {
      node: 'a',
      answer: trafficReport([trafficOf('cart', 1, 2, 3), trafficOf('cart', 10, 20, 30), trafficOf('web', 5)]),
    },
    { node: 'b', answer: trafficReport([trafficOf('cart', 100, 200, 300), trafficOf('pay', 5, 1)]) },
    { node: 'c', answer: trafficReport([trafficOf('all', 5)], false) },
  ]);
  expect(services).toEqual([
    { ...counts('cart', 111, 222, 333), nodeCount: 2, unresponsiveEndpoints: 0 },
    { ...counts('pay', 5, 1), nodeCount: 1, unresponsiveEndpoints: 0 },
    { ...counts('all', 5), nodeCount: 1, unresponsiveEndpoints: 0 },
    { ...counts('web', 5), nodeCount: 1, unresponsiveEndpoints: 0 },
  ]);
  expect(untrackedNodes).toEqual(['c']);
});

it('counts endpoints that do not answer some node, each once', () => {
  const endpoint = (address: string, unresponsive: boolean) =>
    ({ ...counts('cart', 1), address, port: 8080, state: 'ready', newConnections: 0, unresponsive }) as const;
  const seen = (...unresponsive: readonly string[]) => ({
    ...trafficOf('cart', 1),
    endpoints: ['10.1.1.1', '10.1.1.2', '10.1.1.3'].map((one) => endpoint(one, unresponsive.includes(one))),
  });
  const { services } = sumTraffic([
    { node: 'a', answer: trafficReport([seen('10.1.1.1', '10.1.1.2')]) },
    { node: 'b', answer: trafficReport([seen('10.1.1.2')]) },
  ]);
  expect(services).toMatchObject([{ unresponsiveEndpoints: 2 }]);
});
