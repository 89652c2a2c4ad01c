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
  const { services, untracked } = sumTraffic([
    {
      node: 'a',
      answer: trafficReport([trafficOf('cart', 1, 2, 3), trafficOf('cart', 10, 20, 30), trafficOf('web', 5)]),
    },
    { node: 'b', answer: trafficReport([trafficOf('cart', 100, 200, 300), trafficOf('pay', 5, 1)]) },
    { node: 'c', answer: trafficReport([trafficOf('all', 5)], false) },
  ]);
  expect(services).toEqual([
    { ...counts('cart', 111, 222, 333), nodes: 2 },
    { ...counts('pay', 5, 1), nodes: 1 },
    { ...counts('all', 5), nodes: 1 },
    { ...counts('web', 5), nodes: 1 },
  ]);
  expect(untracked).toEqual(['c']);
});
