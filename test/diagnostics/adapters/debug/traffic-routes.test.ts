import { trafficRoutes } from '../../../../src/diagnostics/adapters/debug/traffic-routes.js';
import { ConntrackUnavailableError } from '../../../../src/application/ports/node/conntrack.js';
import {
  TooManyWatchersError,
  type TrafficWatch,
} from '../../../../src/application/traffic/traffic-watchers.js';
import type { TrafficQuery, TrafficReport } from '../../../../src/diagnostics/domain/traffic.js';
import { Served } from '../../../support/http/served.js';
import { until } from '../../../support/until.js';
import { timeText } from '../../../../src/domain/model/text.js';

let served: Served;
let refusal: Error | undefined;
let present: number;
let asked: [TrafficQuery, number][];
let failure: Error | undefined;
let calls: string[];

/** Reports numbered from 1, as fast as they are asked for. */
function watch(): TrafficWatch<TrafficQuery, TrafficReport> {
  if (refusal) throw refusal;
  present++;
  let time = 0;
  return {
    complete: async () => void calls.push('complete'),
    next: async (query, milliseconds, signal) => {
      calls.push('next');
      await new Promise((resolve) => setTimeout(resolve, 5));
      signal.throwIfAborted();
      if (failure) throw failure;
      asked.push([query, milliseconds]);
      return { time: timeText(++time) } as TrafficReport;
    },
    leave: () => void present--,
  };
}

beforeEach(async () => {
  refusal = failure = undefined;
  present = 0;
  asked = [];
  calls = [];
  served = await Served.start(trafficRoutes({ watch }));
});
afterEach(() => served.stop());

it('streams a report a line until the client leaves', async () => {
  const leaving = new AbortController();
  const response = await served.get('/debug/traffic', { signal: leaving.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  const reader = response.body!.getReader();
  let text = '';
  while (text.split('\n').length <= 3) text += Buffer.from((await reader.read()).value!).toString();
  expect(text).toMatch(/^\{"time":"[^"]*01Z"\}\n\{"time":"[^"]*02Z"\}\n\{"time":"[^"]*03Z"\}\n/);
  expect(present).toBe(1);
  leaving.abort();
  await until('the watcher has left', async () => present === 0);
  expect(asked[0]).toEqual([{ services: [], sort: 'open', limit: Infinity }, 1_000]);
  expect(served.logger.lines).toEqual([]);
});

it('gives one report after the counting is complete', async () => {
  const parameters = 'once&interval=0.5&namespace=shop&service=cart&service=shop/pay&sort=new&limit=7';
  expect(await served.text(`/debug/traffic?${parameters}`)).toBe('{"time":"1970-01-01T00:00:00.001Z"}\n');
  expect(calls).toEqual(['complete', 'next']);
  expect(asked).toEqual([
    [{ namespace: 'shop', services: ['cart', 'shop/pay'], sort: 'new', limit: 7 }, 500],
  ]);
  expect(present).toBe(0);
});

it.each(['interval=0', 'interval=61', 'interval=x', 'sort=name', 'limit=-1', 'limit=x'])(
  'refuses %s',
  async (parameters) => {
    const response = await served.get(`/debug/traffic?${parameters}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(parameters.split('=')[0]);
  },
);

it('counts nothing for who wants no body', async () => {
  expect((await served.get('/debug/traffic', { method: 'HEAD' })).status).toBe(200);
  expect([present, calls]).toEqual([0, []]);
});

it.each([new TooManyWatchersError(), new ConntrackUnavailableError('no permission')])(
  'is not available: %s',
  async (error) => {
    refusal = error;
    const response = await served.get('/debug/traffic?once');
    expect([response.status, await response.text()]).toEqual([503, `${error.message}\n`]);
  },
);

it('breaks off when counting fails', async () => {
  failure = new Error('no more');
  await expect(served.text('/debug/traffic?once')).rejects.toThrow();
  expect(present).toBe(0);
  expect(served.logger.lines).toMatchObject([{ level: 'warn', facts: { error: failure } }]);
});
