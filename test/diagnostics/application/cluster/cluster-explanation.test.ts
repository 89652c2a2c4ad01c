import type { NodeAnswer } from '../../../../src/diagnostics/application/cluster/query-nodes.js';
import { compareExplanations } from '../../../../src/diagnostics/application/cluster/cluster-explanation.js';
import { clusterExplanationLines } from '../../../../src/diagnostics/adapters/cli/cluster/texts.js';
import type { Explanation } from '../../../../src/diagnostics/application/explain/explanation.js';
import { endpointOf, explanationOf, portOf } from './samples.js';
import { shownLines } from '../../../support/shown-lines.js';
import { timeText } from '../../../../src/domain/model/text.js';

const clusterExplanationText = (...args: Parameters<typeof clusterExplanationLines>): string =>
  shownLines(clusterExplanationLines(...args));

const usual = explanationOf([portOf({})]);
const cart = portOf({});

const compare = (...answers: readonly Explanation[]) =>
  compareExplanations(
    'shop/cart',
    answers.map((answer, index): NodeAnswer<Explanation> => ({ node: `node-${index + 1}`, answer })),
    answers.length,
  );
const text = (...answers: readonly Explanation[]) => clusterExplanationText(compare(...answers), false);

it.each<[string, Explanation]>([
  [
    'an endpoint is on this node',
    explanationOf([
      portOf({ endpoints: cart.endpoints.map((endpoint) => ({ ...endpoint, isLocal: true })) }),
    ]),
  ],
  [
    'hints exclude an endpoint here',
    explanationOf([portOf({ endpoints: cart.endpoints.map((endpoint) => ({ ...endpoint, used: false })) })]),
  ],
  [
    'it was programmed at another time',
    explanationOf([portOf({ status: { state: 'programmed', sinceTime: timeText(7) } })]),
  ],
])('takes for alike what may differ: %s', (_, other) => {
  expect(compare(usual, usual, other)).toMatchObject({ alike: 3, different: [] });
});

it('takes for alike that policy Local has no endpoint on some nodes', () => {
  const local = (outcome: 'forward' | 'drop') =>
    explanationOf([
      portOf({
        frontends: [{ kind: 'node-port', port: 30080, policy: 'Local', outcome, state: 'ok', reason: '' }],
      }),
    ]);
  expect(compare(local('forward'), local('drop'))).toMatchObject({ alike: 2 });
});

it('takes for usual what most nodes know, whichever of them is named first', () => {
  const other = explanationOf([portOf({ endpoints: cart.endpoints.slice(1) })]);
  expect(compare(other, usual, usual)).toMatchObject({ alike: 2, different: [{ node: 'node-1' }] });
  expect(compare(usual, other, other)).toMatchObject({ alike: 2, different: [{ node: 'node-1' }] });
});

it.each<[string, Explanation, string]>([
  [
    'knows another endpoint',
    explanationOf([portOf({ endpoints: [...cart.endpoints, endpointOf('10.244.3.1')] })]),
    'different: node-3 (has IPv4 port http TCP: endpoint 10.244.3.1:8080: ready)',
  ],
  [
    'lacks an endpoint',
    explanationOf([portOf({ endpoints: cart.endpoints.slice(1) })]),
    'different: node-3 (lacks IPv4 port http TCP: endpoint 10.244.1.1:8080: ready)',
  ],
  [
    'refuses what others forward',
    explanationOf([
      portOf({ frontends: cart.frontends.map((one) => ({ ...one, outcome: 'reject' as const })) }),
    ]),
    'different: node-3 (lacks IPv4 port http TCP: cluster-ip 10.96.0.1:80 (Cluster): forward; has IPv4 port http TCP: cluster-ip 10.96.0.1:80 (Cluster): reject)',
  ],
  [
    'does not know the Service',
    { ...explanationOf([]), known: false },
    'different: node-3 (lacks serves it; lacks IPv4 port http TCP; lacks IPv4 port http TCP: cluster-ip 10.96.0.1:80 (Cluster): forward; 3 more)',
  ],
])('tells a node that %s', (_, other, line) => {
  const said = text(usual, usual, other);
  expect(said).toBe(`shop/cart: programmed alike on 2 of 3 nodes\n${line}\n`);
});

it('counts a node that is behind or failed once, and not as different', () => {
  const failed = explanationOf([
    portOf({
      endpoints: [],
      status: { state: 'failed', sinceTime: timeText(0), attempts: 1, reason: 'why' },
    }),
  ]);
  const behind = (waitingSeconds: number) =>
    explanationOf([portOf({ endpoints: [] })], { pending: true, pendingSeconds: waitingSeconds });
  const pending = explanationOf([portOf({ status: { state: 'pending' } })]);
  expect(compare(usual, behind(1), failed, behind(2.5), pending)).toMatchObject({
    asked: 5,
    alike: 1,
    behind: [{ node: 'node-4', seconds: 2.5 }, { node: 'node-2', seconds: 1 }, { node: 'node-5' }],
    failed: [{ node: 'node-3', reasons: ['IPv4 port http TCP: why'] }],
    different: [],
  });
});

it('says that no node serves it', () => {
  const unknown = { ...explanationOf([]), known: false };
  expect(text(unknown, unknown)).toBe(
    'shop/cart: not served on 2 of 2 nodes; `kubeproxy explain` on a node says why\n',
  );
});

it('repeats what is wrong with its objects once', () => {
  const problem = { ...usual, objects: [{ state: 'error' as const, reason: 'port 0 is invalid' }] };
  expect(text(problem, problem)).toContain('problem: port 0 is invalid\n');
});

it('compares with nobody when nobody answers', () => {
  expect(compare()).toMatchObject({ asked: 0, alike: 0, known: false });
});

it('names the nodes on which it is degraded, or rules of another program are in its way', () => {
  const lost = explanationOf([
    portOf({
      status: { state: 'degraded', sinceTime: timeText(0), reason: '10.96.0.1:80/TCP belongs to shop/other' },
    }),
  ]);
  const reason = 'a rule of another program, in inet guard f: drop';
  const obstacles = [{ from: 'node', to: '10.96.0.1:80/TCP', outcome: 'dropped', reason } as const];
  const stopped = { ...usual, kernelPath: { obstacles } };
  expect(compare(usual, lost, stopped)).toMatchObject({ asked: 3, alike: 1, different: [] });
  expect(text(usual, lost, stopped)).toBe(`shop/cart: programmed alike on 1 of 3 nodes
degraded: node-2 (IPv4 port http TCP: 10.96.0.1:80/TCP belongs to shop/other)
degraded: node-3 (from node to 10.96.0.1:80/TCP: dropped, ${reason})
`);
});
