import { ForwardingCauses } from '../../../../src/diagnostics/application/status/forwarding-causes.js';
import type { TraceAnswer } from '../../../../src/diagnostics/application/trace/answer.js';
import type { TraceQuery } from '../../../../src/diagnostics/domain/trace/query.js';

const FAULTS = [{ family: 'IPv6', port: 40_000 }] as const;
const ENDPOINT = { address: '::1', port: 40_001, probability: 1 };

/** What status shows if a trace has this result, and the queries. */
async function causes(
  trace: () => Promise<Partial<TraceAnswer>>,
  faults: readonly { family: 'IPv6'; port: number }[] = FAULTS,
) {
  const queries: TraceQuery[] = [];
  const tested = new ForwardingCauses(
    () => faults,
    async (query) => {
      queries.push(query);
      return { endpoints: [], ...(await trace()) } as unknown as TraceAnswer;
    },
  );
  await tested.renew();
  return { texts: tested.texts, queries };
}

it.each([
  [
    'a rule',
    { outcome: 'drop', reason: 'a rule of another program, in guard: drop' },
    'meet a rule of another program, in guard: drop',
  ],
  ['no rule', { outcome: 'untouched' }, 'no rule of the kernel translates the connections of the check'],
  [
    'nothing',
    { outcome: 'forward', endpoints: [ENDPOINT] },
    'as they should; look for rules that a trace does not read',
  ],
] as const)('names what a trace finds: %s', async (_, answer, expected) => {
  const { texts, queries } = await causes(() => Promise.resolve(answer as unknown as TraceAnswer));
  expect(texts).toEqual([expect.stringMatching(/^IPv6: /)]);
  expect(texts[0]).toContain(expected);
  expect(queries).toEqual([
    { from: { kind: 'node' }, to: { family: 'IPv6', text: '::1' }, port: 40_000, protocol: 'TCP' },
  ]);
});

it('reports that there can be no trace', async () => {
  const { texts } = await causes(() => Promise.reject(new Error('EPERM')));
  expect(texts).toEqual(['IPv6: the connections of the check cannot be traced: EPERM']);
});

it('traces nothing without a fault', async () => {
  expect(await causes(() => Promise.reject(new Error('EPERM')), [])).toEqual({ texts: [], queries: [] });
});
