import { traceRoutes } from '../../../src/adapters/debug/trace-routes.js';
import type { TraceAnswer } from '../../../src/application/trace/answer.js';
import { CannotTraceError, type TracedRules } from '../../../src/application/trace/trace-packets.js';
import { RunningProxy } from '../../../src/bootstrap/commands/asking/running-proxy.js';
import { askProxy } from '../../../src/bootstrap/commands/tracing/ask-proxy.js';
import { destinationText, parseQuery, sourceText, type TraceQuery } from '../../../src/domain/trace/query.js';
import { Served } from '../../support/http/served.js';

/** What was asked, in the place of an answer. */
function trace(query: TraceQuery, rules: TracedRules): Promise<TraceAnswer> {
  if (query.port === 1) return Promise.reject(new CannotTraceError('this proxy does not serve IPv4'));
  return Promise.resolve({ remarks: [sourceText(query.from), destinationText(query), rules] } as never);
}

let served: Served;
beforeEach(async () => {
  served = await Served.start(traceRoutes(trace));
});
afterEach(() => served.stop());

describe('the route that traces', () => {
  it.each([
    ['from=node&to=10.96.0.1:53/udp', ['node', '10.96.0.1:53/UDP', 'desired']],
    ['from=outside&to=%5Bfd00::1%5D:53&kernel=true', ['outside', '[fd00::1]:53/TCP', 'actual']],
  ])('answers %s', async (search, remarks) => {
    const response = await served.get(`/debug/trace?${search}`);
    expect([response.status, await response.json()]).toEqual([200, { remarks }]);
  });

  it.each([
    ['', 400, 'the destination "" is not ADDRESS:PORT'],
    ['from=pod&to=10.96.0.1:53', 400, 'the source "pod" is neither'],
    ['from=node&to=10.96.0.1:1', 500, 'this proxy does not serve IPv4'],
  ])('says why it cannot answer %s', async (search, status, reason) => {
    const response = await served.get(`/debug/trace?${search}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.stringContaining(reason) as string });
  });

  it('is what the command asks', async () => {
    const proxy = RunningProxy.at(served.address);
    const query = parseQuery('outside:2001:db8::1', '[fd00::1]:53/sctp');
    expect((await askProxy(proxy, 'actual')(query)).remarks).toEqual([
      'outside:2001:db8::1',
      '[fd00::1]:53/SCTP',
      'actual',
    ]);
    await expect(askProxy(proxy, 'desired')(parseQuery('node', '10.96.0.1:1'))).rejects.toThrow(
      'this proxy does not serve IPv4',
    );
  });
});
