import { clusterTraces, keptTrace } from '../../../../src/diagnostics/application/cluster/cluster-traces.js';
import type { TraceAnswer } from '../../../../src/diagnostics/application/trace/answer.js';

const answer = (parts: Partial<TraceAnswer>) =>
  ({
    outcome: 'forward',
    endpoints: [{ address: 'fd00::5', port: 80, probability: 1 }],
    sourceRewritten: false,
    ...parts,
  }) as TraceAnswer;

it('puts nodes together on which the same becomes of packets, the most common first', () => {
  const answers = [
    { node: 'a', answer: answer({ sourceRewritten: true }) },
    { node: 'b', answer: { error: 'no rules' } },
    { node: 'c', answer: answer({}) },
    { node: 'd', answer: answer({}) },
    { node: 'e', answer: answer({ outcome: 'dropped', endpoints: [] }) },
  ].map(({ node, answer: given }) => ({ node, answer: keptTrace(given) }));
  expect(clusterTraces(answers)).toEqual({
    fates: [
      { outcome: 'forward', endpoints: ['[fd00::5]:80'], sourceRewritten: false, nodes: ['c', 'd'] },
      { outcome: 'forward', endpoints: ['[fd00::5]:80'], sourceRewritten: true, nodes: ['a'] },
      { outcome: 'dropped', endpoints: [], sourceRewritten: false, nodes: ['e'] },
    ],
    failed: [{ node: 'b', reason: 'no rules' }],
  });
});
