import { kernelWalkLines } from '../../../../../src/diagnostics/adapters/cli/commands/explain.js';
import { walkKernel, withChecks } from '../../../../../src/diagnostics/application/explain/checks.js';
import type { TraceAnswer } from '../../../../../src/diagnostics/application/trace/answer.js';
import {
  destinationText,
  sourceText,
  type TraceQuery,
} from '../../../../../src/diagnostics/domain/trace/query.js';
import { rawService, rawSlice } from '../../../../support/objects.js';
import { SeenCluster } from '../../../../support/seen-cluster.js';
import { shownLines } from '../../../../support/shown-lines.js';

const kernelWalkText = (...args: Parameters<typeof kernelWalkLines>): string =>
  shownLines(kernelWalkLines(...args));

const NEVER = new Promise(() => {});
const stoppedBy = { hook: 'forward', where: 'inet guard f', rule: 'drop', effect: 'drop', foreign: true };
const textOf = (query: TraceQuery): string => `${sourceText(query.from)} ${destinationText(query)}`;

const explained = (spec: object, endpoints: readonly object[], status: object = {}) =>
  new SeenCluster()
    .deliver([rawService(spec, { status })], [rawSlice({ endpoints })])
    .explain.service('shop/cart');
const everywhere = {
  type: 'LoadBalancer',
  ports: [{ port: 80, nodePort: 30080 }],
};
const balanced = { loadBalancer: { ingress: [{ ip: '192.0.2.99' }] } };
const here = { addresses: ['10.1.1.1'], nodeName: 'n1' };

async function walked(
  explanation: Awaited<ReturnType<typeof explained>>,
  answer: (query: TraceQuery) => Partial<TraceAnswer> | Promise<never>,
  timeUp: Promise<unknown> = NEVER,
) {
  const asked: string[] = [];
  const trace = async (query: TraceQuery) => {
    asked.push(textOf(query));
    return (await answer(query)) as TraceAnswer;
  };
  const kernel = await walkKernel(explanation, trace, ['fd00::4', '192.0.2.4'], timeUp);
  return { kernel, asked };
}

it('follows packets of the node, of outside, and of a pod here, to all frontends that forward', async () => {
  const explanation = await explained(everywhere, [here], balanced);
  const { kernel, asked } = await walked(explanation, () => ({ outcome: 'forward' }));
  expect(asked).toEqual([
    'node 10.96.7.1:80/TCP',
    'outside 10.96.7.1:80/TCP',
    '10.1.1.1 10.96.7.1:80/TCP',
    'node 192.0.2.99:80/TCP',
    'outside 192.0.2.99:80/TCP',
    '10.1.1.1 192.0.2.99:80/TCP',
    'outside 192.0.2.4:30080/TCP',
    '10.1.1.1 192.0.2.4:30080/TCP',
  ]);
  expect([kernel, withChecks(explanation, kernel, undefined).verdict.state]).toEqual([
    { obstacles: [] },
    'ok',
  ]);
});

it('names the rule that stops them, and does not call the Service sound', async () => {
  const explanation = await explained({}, [here]);
  const { kernel } = await walked(explanation, ({ from }) =>
    from.kind === 'node'
      ? {
          outcome: 'mixed',
          reason: 'a rule of another program, in inet guard f: drop',
          stoppedBy: stoppedBy as never,
        }
      : { outcome: 'drop', reason: 'load-balancer IPs accept only 198.51.100.0/24' },
  );
  expect(kernelWalkText(kernel)).toBe(
    '  in the kernel: from node to 10.96.7.1:80/TCP: mixed, a rule of another program, in inet guard f: drop; `kubeproxy trace --kernel --from node --to 10.96.7.1:80/TCP` shows its path\n',
  );
  expect([explanation.verdict.state, withChecks(explanation, kernel, undefined).verdict.state]).toEqual([
    'ok',
    'error',
  ]);
});

it('looks at nothing that would not be forwarded anyway', async () => {
  const { asked } = await walked(await explained({}, []), () => ({}));
  expect(asked).toEqual([]);
});

it('ends when the time is up, with what is known by then, and when packets cannot be followed', async () => {
  const explanation = await explained({}, [here]);
  let giveUp = (): void => {};
  const timeUp = new Promise<void>((resolve) => (giveUp = resolve));
  const late = walked(
    explanation,
    ({ from }) => {
      if (from.kind === 'node') return { outcome: 'drop', reason: 'r', stoppedBy: stoppedBy as never };
      giveUp();
      return new Promise<never>(() => {});
    },
    timeUp,
  );
  expect((await late).kernel).toEqual({
    obstacles: [{ from: 'node', to: '10.96.7.1:80/TCP', outcome: 'drop', reason: 'r' }],
    incompleteReason: 'there was no time to follow all packets',
  });
  const { kernel } = await walked(explanation, () => Promise.reject(new Error('not in mode userspace')));
  expect(kernelWalkText(kernel)).toBe('  in the kernel: not everything was checked: not in mode userspace\n');
  expect(withChecks(explanation, kernel, undefined).verdict.state).toBe('ok');
});
