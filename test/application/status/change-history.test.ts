import fc from 'fast-check';
import { endpointPlace, type Endpoint } from '../../../src/domain/model/endpoint.js';
import { ChangeHistory, type HistoryFilter } from '../../../src/application/status/change-history.js';
import { written } from '../../../src/diagnostics/adapters/cli/output.js';
import { historyLines } from '../../../src/diagnostics/adapters/cli/commands/history.js';
import type { ChangeEntry } from '../../../src/application/status/change-entry.js';
import {
  ejectedChange,
  endpointsChange,
  frontendsChange,
} from '../../../src/application/status/list-changes.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import type { ForwardingEntry, Frontend } from '../../../src/domain/forwarding/forwarding-entry.js';
import { parseAddress } from '../../../src/domain/net/address.js';
import { FORWARDING, endpoint, service } from '../../support/samples.js';
import { Bench, keyOf, START } from '../sync/bench.js';
import { timeText } from '../../../src/domain/model/text.js';

/** A sync loop whose changes are remembered. */
async function remembering(...names: string[]): Promise<{ bench: Bench; history: ChangeHistory }> {
  const holder: { history?: ChangeHistory } = {};
  const bench = new Bench(
    { minSyncPeriod: 1000 },
    { finished: (family, report) => void (report.full || holder.history!.finished(family, report)) },
  );
  const history = new ChangeHistory(bench.statuses, bench.clock);
  holder.history = history;
  await bench.begin(...names);
  await bench.clock.advanceAsync(1000);
  return { bench, history };
}

const change = (count: number, added = 0, removed = 0, examples: readonly string[] = [], changed = 0) => ({
  count,
  added,
  removed,
  changed,
  examples,
});

/** The cells of the line of a change. */
const cellsOf = (entry: ChangeEntry, isWide: boolean): readonly string[] =>
  written(historyLines([entry], isWide)[1]!).split(/ {2,}/);

describe('ChangeHistory', () => {
  it('tells for each service port what became of it, as the log does', async () => {
    const { bench, history } = await remembering('a', 'b', 'c');
    bench.setEndpoints('a', '10.244.0.1', '10.244.0.2');
    bench.loop.pending.triggered('shop/a', START + 400);
    await bench.clock.advanceAsync(0);
    bench.logger.clear();
    bench.setEndpoints('a', '10.244.0.2', '10.244.0.3');
    await bench.clock.advanceAsync(300);
    bench.backend.poisoned.set(keyOf('b'), 'EINVAL');
    bench.change('b');
    bench.remove('c');
    await bench.clock.advanceAsync(700);
    const first = { kind: 'service-port', family: 'IPv4', time: timeText(START + 1000), writtenSteps: 1 };
    const later = {
      kind: 'service-port',
      family: 'IPv4',
      time: timeText(START + 2000),
      writtenSteps: 2,
      eventTime: timeText(START + 1000),
      durationSeconds: 1,
    };
    expect(history.changes()).toEqual({
      total: 4,
      changes: [
        {
          ...first,
          servicePort: 'shop/a',
          result: 'programmed',
          eventTime: timeText(START + 1000),
          triggerTime: timeText(START + 400),
          durationSeconds: 0,
          endpointChange: change(2, 2, 0, ['+10.244.0.1:8080', '+10.244.0.2:8080']),
          frontendChange: change(1, 0, 0, ['10.96.7.1:80 reject → forward'], 1),
        },
        {
          ...later,
          servicePort: 'shop/a',
          result: 'programmed',
          endpointChange: change(2, 1, 1, ['-10.244.0.1:8080', '+10.244.0.3:8080']),
          frontendChange: change(1),
        },
        {
          ...later,
          servicePort: 'shop/b',
          result: 'failed',
          reason: 'EINVAL',
          endpointChange: change(0),
          frontendChange: change(1),
        },
        {
          ...later,
          servicePort: 'shop/c',
          result: 'removed',
          endpointChange: change(0),
          frontendChange: change(0, 0, 1, ['-10.96.7.3:80']),
        },
      ],
    });
    const logged = bench.logger.lines.flatMap(({ message, facts }) =>
      /^service port (programmed|removed)$/.test(message) ? [{ message, ...facts }] : [],
    );
    expect(logged).toEqual([
      {
        message: 'service port programmed',
        family: 'IPv4',
        service: keyOf('a'),
        msSinceEvent: 1000,
        endpoints: 2,
      },
      { message: 'service port removed', family: 'IPv4', service: keyOf('c'), msSinceEvent: 1000 },
    ]);
    expect(history.changes({ services: ['shop/c'] }).changes).toEqual([history.changes().changes[3]]);
    expect(history.changes({ services: ['shop/none'] })).toEqual({ changes: [], total: 4 });
  });

  it('tells a sync of every Service as one change, with its failures, and no retries that fail again', async () => {
    const { bench, history } = await remembering('a', 'b');
    bench.backend.poisoned.set(keyOf('b'), 'EINVAL');
    bench.loop.pending.everyServiceChanged();
    bench.loop.changed();
    await bench.clock.advanceAsync(10_000);
    expect(bench.sync.outcomes.attempts(keyOf('b'))).toBeGreaterThan(2);
    expect(history.changes().changes).toMatchObject([
      { kind: 'everything-programmed', family: 'IPv4' },
      { kind: 'service-port', servicePort: 'shop/b', result: 'failed' },
    ]);
  });

  it('tells why a service port is degraded', async () => {
    const { bench, history } = await remembering('a', 'b');
    jest.spyOn(bench.backend, 'apply').mockResolvedValueOnce({
      written: 1,
      failed: [],
      notes: [{ key: keyOf('b'), note: 'not as asked' }],
    });
    bench.change('b');
    await bench.clock.advanceAsync(1000);
    expect(history.changes({ services: ['shop/b'] }).changes.at(-1)).toMatchObject({
      result: 'degraded',
      reason: 'not as asked',
    });
  });

  it('keeps the last thousand over a churn, in order, and knows how many there were', async () => {
    const { bench, history } = await remembering('a', 'b');
    for (let round = 0; round < 1250; round++) {
      bench.setEndpoints(round % 5 === 0 ? 'b' : 'a', `10.244.${round >> 8}.${round & 255}`);
      await bench.clock.advanceAsync(1000);
    }
    const { changes, total } = history.changes();
    expect([changes.length, total]).toEqual([1000, 1250]);
    const times = changes.map(({ time }) => time);
    expect(times).toEqual([...times].sort());
    expect(changes.at(-1)).toMatchObject({
      endpointChange: { examples: ['-10.244.4.224:8080', '+10.244.4.225:8080'] },
    });
    expect(history.changes({ services: ['shop/b'] }).changes).toHaveLength(200);
  });

  it('answers what is requested of a namespace, of the last time, and the newest', async () => {
    const { bench, history } = await remembering('a', 'b');
    for (const name of ['a', 'b', 'a']) {
      bench.change(name);
      await bench.clock.advanceAsync(10_000);
    }
    const names = (filter: HistoryFilter) =>
      history.changes(filter).changes.map((entry) => entry.kind === 'service-port' && entry.servicePort);
    expect(names({})).toEqual(['shop/a', 'shop/b', 'shop/a']);
    expect(names({ namespace: 'shop', limit: 2 })).toEqual(['shop/b', 'shop/a']);
    expect(names({ namespace: 'sho' })).toEqual([]);
    expect(names({ since: 15_000 })).toEqual(['shop/a']);
    expect(names({ since: 60_000, services: ['shop/a'], limit: 1 })).toEqual(['shop/a']);
    expect(history.changes({ limit: 1 }).total).toBe(3);
  });

  it('is a table for people', () => {
    const entry = {
      kind: 'service-port',
      family: 'IPv4',
      time: timeText(5),
      writtenSteps: 3,
      servicePort: 'shop/a',
      result: 'programmed',
      eventTime: timeText(2),
      triggerTime: timeText(1),
      durationSeconds: 0.003,
      endpointChange: change(9, 4, 1, ['+10.0.0.1:80', '+10.0.0.2:80', '-10.0.0.3:80']),
      frontendChange: change(1, 0, 0, ['10.96.7.1:80 reject → forward'], 1),
    } as const;
    const text =
      'endpoints 6 → 9: +10.0.0.1:80, +10.0.0.2:80, -10.0.0.3:80 and 2 more; frontends: 10.96.7.1:80 reject → forward';
    const cells = ['1970-01-01T00:00:00.005Z', 'shop/a', 'IPv4', 'programmed', '3 ms', '3'];
    expect(cellsOf(entry, false)).toEqual([...cells, text]);
    expect(cellsOf(entry, true)).toEqual([
      ...cells,
      `${text}; event 1970-01-01T00:00:00.002Z, caused 1970-01-01T00:00:00.001Z`,
    ]);
    const same = { ...entry, endpointChange: change(9), frontendChange: change(1) };
    expect(cellsOf(same, false).at(-1)).toBe('9 endpoints as before');
    expect(cellsOf({ ...same, result: 'failed', reason: 'EINVAL' }, false).at(-1)).toBe('EINVAL');
    const repaired = { kind: 'repaired', family: 'IPv6', time: timeText(5), writtenSteps: 3 } as const;
    expect(cellsOf(repaired, false)).toEqual([
      cells[0],
      '-',
      'IPv6',
      'repaired after another program',
      '-',
      '3',
    ]);
    const failed = { ...repaired, kind: 'sync-failed', durationSeconds: 0.007, reason: 'EPERM' } as const;
    expect(cellsOf(failed, false).slice(3)).toEqual(['sync failed', '7 ms', '3', 'EPERM']);
  });
});

describe('changes of lists', () => {
  it('of endpoints are counted as sets of their texts', () => {
    const list = fc
      .uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 12 })
      .map((numbers) =>
        numbers
          .map((number) => endpoint(`10.1.1.${number}`))
          .sort((one, other) => (endpointPlace(one) < endpointPlace(other) ? -1 : 1)),
      );
    fc.assert(
      fc.property(list, list, (former, present) => {
        const texts = (endpoints: typeof former) => new Set(endpoints.map(endpointPlace));
        const { count, added, removed, changed, examples } = endpointsChange(former, present);
        expect({ count, added, removed, changed }).toEqual({
          count: present.length,
          added: [...texts(present)].filter((text) => !texts(former).has(text)).length,
          removed: [...texts(former)].filter((text) => !texts(present).has(text)).length,
          changed: 0,
        });
        expect(examples).toHaveLength(Math.min(3, added + removed));
      }),
    );
  });

  it('of frontends tell what came, went and turned', () => {
    const at = (address: string | undefined, port: number, outcome: Frontend['outcome'] = 'forward') =>
      ({
        kind: 'cluster-ip',
        ...(address !== undefined && { address }),
        port,
        policy: 'Cluster',
        outcome,
      }) as const;
    const ip = parseAddress('fd00::1')!.text;
    expect(
      frontendsChange(
        [at(ip, 80), at(undefined, 30080), at('10.0.0.1', 80)],
        [at(ip, 80, 'reject'), at(undefined, 30081), at('10.0.0.1', 80)],
      ),
    ).toEqual(change(3, 1, 1, ['[fd00::1]:80 forward → reject', '+30081', '-30080'], 1));
    expect(frontendsChange(undefined, undefined)).toEqual(change(0));
  });
});

describe('of endpoints that step aside', () => {
  const [one, two] = [endpoint('10.1.1.1'), endpoint('10.1.1.2')];
  const entryWith = (aside: readonly Endpoint[]): ForwardingEntry => {
    const places = new Set(aside.map(endpointPlace));
    const context = { ...FORWARDING, ejectUnresponsiveEndpoints: true };
    return forwardService(service(), () => [one, two], context, { ejected: () => places })[0]!;
  };
  const key = entryWith([]).key;

  it('tells which stepped aside and which returned, and nothing where nobody did', () => {
    const [all, without] = [entryWith([]), entryWith([one])];
    expect(ejectedChange({ key, former: all, entry: without })).toEqual({
      ejectedChange: change(1, 1, 0, ['+10.1.1.1:8080']),
    });
    expect(ejectedChange({ key, former: without, entry: all })).toEqual({
      ejectedChange: change(0, 0, 1, ['-10.1.1.1:8080']),
    });
    expect(ejectedChange({ key, former: without, entry: without })).toEqual({});
    expect(ejectedChange({ key, former: undefined, entry: all })).toEqual({});
    expect(ejectedChange({ key, former: all, entry: undefined })).toEqual({});
  });
});
