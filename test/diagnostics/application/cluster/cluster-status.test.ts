import { clusterStatus, nodeStatus } from '../../../../src/diagnostics/application/cluster/cluster-status.js';
import { statusOf } from './samples.js';

it.each(['good', 'degraded', 'not-serving'] as const)('takes the answer of a node that is %s', (state) => {
  const answer = statusOf({ state });
  expect(nodeStatus(answer, '')).toBe(answer);
});

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
  const family = (failed: number, degraded: number, repaired: number) => ({
    failed: [...Array.from({ length: failed }, () => ({})), { limitedBy: 'mode' as const }],
    degraded: [...Array.from({ length: degraded }, () => ({ limitedBy: 'node' as const })), {}],
    sync: { drift: { repaired } },
  });
  const answer = { ...statusOf({ lag: 7 }), families: [family(1, 2, 3), family(10, 20, 30)] };
  expect(clusterStatus([{ node: 'a', answer }]).nodes).toEqual([
    {
      node: 'a',
      state: 'good',
      reasons: [],
      mode: 'nftables',
      version: '0.1.0',
      inSync: false,
      lag: 7,
      failing: 33,
      drift: 33,
    },
  ]);
});
