import { clusterStatus } from '../../../../src/diagnostics/application/cluster/cluster-status.js';
import { statusOf } from './samples.js';
import { timeText } from '../../../../src/domain/model/text.js';

it('lists nodes with problems first, then those that wait', () => {
  const answers = [
    { node: 'a', answer: statusOf({}) },
    { node: 'b', answer: statusOf({ lag: 5 }) },
    { node: 'c', answer: statusOf({ state: 'degraded' }) },
    { node: 'd', answer: statusOf({ state: 'degraded', lag: 5 }) },
    { node: 'e', answer: statusOf({ state: 'not-serving' }) },
    { node: 'f', answer: statusOf({}) },
  ];
  expect(clusterStatus(answers).nodes.map(({ node }) => node)).toEqual(['e', 'd', 'c', 'b', 'a', 'f']);
});

it('adds up what the node cannot serve and what was repaired, over both families, without problems of objects', () => {
  const port = { servicePort: 'shop/cart:http', sinceTime: timeText(0), attempts: 1, reason: 'EINVAL' };
  const family = (failed: number, degraded: number, repaired: number) => ({
    ...statusOf({ drift: repaired }).families[0]!,
    failed: [...Array.from({ length: failed }, () => port), { ...port, limitedBy: 'mode' as const }],
    degraded: [...Array.from({ length: degraded }, () => ({ ...port, limitedBy: 'node' as const })), port],
  });
  const answer = { ...statusOf({ lag: 7 }), families: [family(1, 2, 3), family(10, 20, 30)] };
  expect(clusterStatus([{ node: 'a', answer }]).nodes).toEqual([
    {
      node: 'a',
      state: 'ok',
      reasons: [],
      mode: 'nftables',
      version: '0.1.0',
      inSync: false,
      lagSeconds: 7,
      failingServicePorts: 33,
      repairSteps: 33,
    },
  ]);
});
