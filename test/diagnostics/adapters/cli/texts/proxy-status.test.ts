import { written } from '../../../../../src/diagnostics/adapters/cli/output.js';
import { proxyStatusLines } from '../../../../../src/diagnostics/adapters/cli/commands/status.js';
import { parseAnswer } from '../../../../../src/diagnostics/application/parse-answer.js';
import { statusAnswer } from '../../../../../src/diagnostics/application/status/proxy-status.js';

const versions = { program: '0.1.0', nodejs: 'v20', kernel: '6.1' };
const answer = {
  state: 'ok',
  reasons: [],
  node: 'node1',
  mode: 'nftables',
  versions,
  startTime: 0,
  time: 1_000,
  inSync: true,
  lagSeconds: 0,
  pendingReasons: [],
  families: [],
  serviceCounts: { ok: 212, warning: 3, error: 1 },
  serviceProblems: [{ service: 'shop/web', state: 'error', reason: 'no pod has the labels app=webb' }],
  ignored: [],
  watches: [],
  lastErrors: [],
};
const linesOf = (told: object): readonly string[] =>
  proxyStatusLines(parseAnswer(JSON.stringify(told), statusAnswer), false).map(written);

it('shows warnings and the release of Kubernetes', () => {
  const lines = linesOf({
    ...answer,
    warnings: ['connections cannot be counted'],
    versions: { ...versions, kubernetes: 'v1.37' },
  });
  expect(lines.slice(0, 3)).toEqual([
    'node1: ok',
    '  warning: connections cannot be counted',
    '  nftables mode, version 0.1.0 for Kubernetes v1.37, Node.js v20, Linux 6.1',
  ]);
});

it('shows how many Services are in each state, and the worst', () => {
  expect(linesOf(answer).slice(3)).toEqual([
    '  Services: 212 ok, 3 warning, 1 error',
    '    error: shop/web: no pod has the labels app=webb',
    '    and 3 more: kubeproxy services --problems',
  ]);
});

it('takes the answer of an older proxy, which says neither', () => {
  expect(linesOf(answer)[1]).toBe('  nftables mode, version 0.1.0, Node.js v20, Linux 6.1');
});
