import { foldExplanations } from '../../../../src/diagnostics/application/cluster/cluster-explanation.js';
import { clusterExplanationLines } from '../../../../src/diagnostics/adapters/cli/cluster/texts.js';
import type { Explanation } from '../../../../src/diagnostics/application/explain/explanation.js';
import { endpointOf, explanationOf, portOf } from './samples.js';
import { shownLines } from '../../../support/shown-lines.js';
import { timeText } from '../../../../src/domain/model/text.js';

const usual = explanationOf([portOf({})]);
const cart = portOf({});

const fold = (...answers: readonly Explanation[]) =>
  foldExplanations(answers.map((answer, index) => ({ node: `node-${index + 1}`, answer: [answer] })));

/** The first line of each group, and what follows all groups. */
const heads = (...answers: readonly Explanation[]): readonly string[] =>
  fold(...answers).flatMap((one) =>
    shownLines(clusterExplanationLines(one, answers.length, false))
      .split('\n')
      .filter((line) => /^\S/.test(line)),
  );

it.each<[string, Explanation]>([
  [
    'an endpoint is on this node',
    explanationOf([portOf({ endpoints: cart.endpoints.map((endpoint) => ({ ...endpoint, local: true })) })]),
  ],
  [
    'hints exclude an endpoint here',
    explanationOf([portOf({ endpoints: cart.endpoints.map((endpoint) => ({ ...endpoint, used: false })) })]),
  ],
  [
    'it was programmed at another time',
    explanationOf([portOf({ status: { state: 'programmed', sinceTime: timeText(7) } })]),
  ],
])('folds nodes that differ by nature: %s', (_, other) => {
  expect(fold(usual, usual, other)).toMatchObject([
    { subject: 'shop/cart', groups: [{ nodes: ['node-1', 'node-2', 'node-3'] }], differingNodes: [] },
  ]);
  expect(heads(usual, usual, other)).toEqual([
    `shop/cart: ${usual.verdict.state} on 3 of 3 nodes: ${usual.verdict.reason}`,
  ]);
});

it('does not mind that policy Local has no endpoint on some nodes', () => {
  const local = (outcome: 'forward' | 'drop') =>
    explanationOf([
      portOf({
        frontends: [{ kind: 'node-port', port: 30080, policy: 'Local', outcome, state: 'ok', reason: '' }],
      }),
    ]);
  expect(fold(local('forward'), local('drop'))).toMatchObject([{ groups: [{}], differingNodes: [] }]);
});

it.each<[string, Explanation]>([
  ['another endpoint', explanationOf([portOf({ endpoints: [...cart.endpoints, endpointOf('10.244.3.1')] })])],
  ['an endpoint less', explanationOf([portOf({ endpoints: cart.endpoints.slice(1) })])],
  [
    'that it rejects what others forward',
    explanationOf([
      portOf({ frontends: cart.frontends.map((one) => ({ ...one, outcome: 'reject' as const })) }),
    ]),
  ],
])('names a node that knows %s, whichever comes first', (_, other) => {
  const line = 'has other frontends or endpoints than the other nodes';
  expect(heads(usual, usual, other).at(-1)).toBe(`shop/cart: node-3 ${line}`);
  expect(heads(other, usual, usual).at(-1)).toBe(`shop/cart: node-1 ${line}`);
});

it('shows each verdict with its nodes, that of most nodes first, and its details once', () => {
  const verdict = {
    state: 'error',
    cause: 'ProgrammingFailed',
    reason: 'the kernel rejected the rules',
    nextStep: 'see the log',
  } as const;
  const failed: Explanation = { ...usual, verdict };
  expect(heads(failed, usual, usual)).toEqual([
    `shop/cart: ok on 2 of 3 nodes (node-2, node-3): ${usual.verdict.reason}`,
    'shop/cart: error on 1 of 3 nodes (node-1): the kernel rejected the rules',
  ]);
  const [subject] = fold(failed, usual, usual);
  const text = shownLines(clusterExplanationLines(subject!, 3, false));
  expect(text.match(/details of node-2:/g)).toHaveLength(1);
  expect(text).toContain('(node-1): the kernel rejected the rules\n  next: see the log\n');
});

it('takes a name for known that one node finds in a namespace', () => {
  const missing: Explanation = {
    ...explanationOf([]),
    service: 'cart',
    known: false,
    verdict: { state: 'error', cause: 'NotFound', reason: 'there is none' },
  };
  expect(heads(usual, missing)).toEqual([`shop/cart: ok on 1 of 2 nodes (node-1): ${usual.verdict.reason}`]);
  expect(heads(missing, missing)).toEqual(['cart: error on 2 of 2 nodes: there is none']);
});
