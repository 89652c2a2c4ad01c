import { traceRoutes } from '../../../../src/diagnostics/adapters/debug/report-routes.js';
import type { TraceAnswer } from '../../../../src/diagnostics/application/trace/answer.js';
import {
  CannotTraceError,
  type TracedRules,
} from '../../../../src/diagnostics/application/trace/trace-packets.js';
import {
  UnknownPodError,
  type ClusterNames,
} from '../../../../src/diagnostics/application/trace/named-ends.js';
import { eachHandler } from '../../../../src/adapters/http/router.js';
import { RunningProxy } from '../../../../src/diagnostics/adapters/cli/running-proxy.js';
import { tracingByProxy } from '../../../../src/diagnostics/adapters/cli/commands/trace.js';
import {
  destinationText,
  parseQuery,
  sourceText,
  type TraceQuery,
} from '../../../../src/diagnostics/domain/trace/query.js';
import { Served } from '../../../support/http/served.js';
import { until } from '../../../support/until.js';

const ANSWER: TraceAnswer = {
  packet: {
    family: 'IPv4',
    inputInterface: 'eth0',
    source: '192.0.2.1',
    destination: '10.96.0.1',
    protocol: 'TCP',
    destinationPort: 53,
  },
  outcome: 'reject',
  endpoints: [],
  sourceRewrite: 'never',
  sticky: false,
  steps: [],
  remarks: [],
};

/** What was asked, in the remarks of an answer. */
function trace(query: TraceQuery, rules: TracedRules): Promise<TraceAnswer> {
  if (query.port === 1) return Promise.reject(new CannotTraceError('this proxy does not serve IPv4'));
  const remarks = [sourceText(query.from), destinationText(query), rules];
  return Promise.resolve({ ...ANSWER, remarks });
}

/** The only pod and the only Service. */
const names: ClusterNames = {
  places: async () => [
    { service: 'shop/web', port: 'http', number: 80, protocol: 'TCP', family: 'IPv4', address: '10.96.0.7' },
  ],
  pods: async () => [{ pod: 'shop/web-1', phase: 'Running', ips: ['10.244.1.7'] }],
};

let served: Served;
beforeEach(async () => {
  served = await Served.start(traceRoutes(trace, names));
});
afterEach(() => served.stop());

describe('the route that traces', () => {
  it.each([
    ['from=node&to=10.96.0.1:53/udp', ['node', '10.96.0.1:53/UDP', 'desired']],
    ['from=outside&to=%5Bfd00::1%5D:53&kernel=true', ['outside', '[fd00::1]:53/TCP', 'actual']],
    ['from=pod/web-1&to=shop/web:http', ['10.244.1.7', '10.96.0.7:80/TCP', 'desired']],
    ['from=node&to=service/web', ['node', '10.96.0.7:80/TCP', 'desired']],
  ])('answers %s', async (search, remarks) => {
    const response = await served.get(`/debug/trace?${search}`);
    expect([response.status, await response.json()]).toEqual([200, { ...ANSWER, remarks }]);
  });

  it.each([
    ['', 400, 'the destination "" is not ADDRESS:PORT'],
    ['from=pod&to=10.96.0.1:53', 400, 'the source "pod" is neither'],
    ['from=node&to=shop/none', 400, 'no Service shop/none has a cluster IP here'],
    ['from=node&to=web:https', 400, 'shop/web has no such port; it has http/tcp'],
    ['from=node&to=10.96.0.1:1', 500, 'this proxy does not serve IPv4'],
  ])('says why it cannot answer %s', async (search, status, reason) => {
    const response = await served.get(`/debug/trace?${search}`);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.stringContaining(reason) as string });
  });

  it('marks a pod that the proxy does not know', async () => {
    await served.stop();
    const pods = () => Promise.reject(new UnknownPodError('no endpoint is the pod a/b'));
    served = await Served.start(traceRoutes(trace, { ...names, pods }));
    const response = await served.get('/debug/trace?from=a/b&to=10.96.0.1:53');
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: 'no endpoint is the pod a/b', cause: 'UnknownPod' },
    ]);
  });

  it('is what the command asks', async () => {
    const proxy = RunningProxy.at(served.address);
    const query = parseQuery('outside:2001:db8::1', '[fd00::1]:53/sctp');
    expect((await tracingByProxy(proxy, 'actual')(query)).remarks).toEqual([
      'outside:2001:db8::1',
      '[fd00::1]:53/SCTP',
      'actual',
    ]);
    await expect(tracingByProxy(proxy, 'desired')(parseQuery('node', '10.96.0.1:1'))).rejects.toThrow(
      'this proxy does not serve IPv4',
    );
  });

  it('follows two at a time, and none for who has left', async () => {
    const followed: (() => void)[] = [];
    let [asking, left] = [0, 0];
    const routes = traceRoutes(
      (_, __, signal) =>
        new Promise((resolve, reject) => {
          followed.push(() => resolve({ remarks: [] } as never));
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      names,
    );
    await served.stop();
    served = await Served.start(
      eachHandler(routes, (handler) => (query, response) => {
        asking++;
        const answered = handler(query, response);
        response.once('close', () => left++);
        return answered;
      }),
    );
    const path = '/debug/trace?from=node&to=10.96.0.1:53&kernel=true';
    const [leavesFirst, leavesLast] = [new AbortController(), new AbortController()];
    const asksInVain = ({ signal }: AbortController) =>
      expect(served.get(path, { signal })).rejects.toThrow();
    const impatient = [asksInVain(leavesLast), asksInVain(leavesLast)];
    await until('two are followed', async () => followed.length === 2);
    impatient.push(asksInVain(leavesFirst));
    await until('the third waits', async () => asking === 3);
    const patient = served.get(path);
    leavesFirst.abort();
    await until('the third has left', async () => left === 1);
    leavesLast.abort();
    await Promise.all(impatient);
    await until('the next is followed', async () => followed.length === 3);
    followed.at(-1)!();
    expect((await patient).status).toBe(200);
    expect(followed).toHaveLength(3);
    expect(served.logger.lines).toEqual([]);
  });
});
