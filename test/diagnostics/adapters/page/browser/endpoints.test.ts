import { addressRank } from '../../../../../src/diagnostics/adapters/page/browser/text.js';
import {
  lastArrivals,
  newestFirst,
} from '../../../../../src/diagnostics/adapters/page/browser/views/endpoints.js';
import { isIdle } from '../../../../../src/diagnostics/adapters/page/browser/views/traffic-panel.js';
import type { EndpointReport } from '../../../../../src/diagnostics/domain/traffic.js';
import { timeText } from '../../../../../src/domain/model/text.js';
import { serviceChange } from './samples.js';

const at = (address: string, port = 80) => ({ address, port });
const came = (time: number, ...some: readonly string[]) =>
  serviceChange({
    time: timeText(time),
    endpointChange: { count: 9, added: some.length, removed: 0, changed: 0, examples: some },
  });

it.each([
  [['10.2.0.1:80', '10.10.0.1:80', '10.10.0.1:8080', '10.10.0.12:80']],
  [['[fd00::9]:80', '[fd00::a]:80', '[fd00::10]:80']],
])('addresses are sorted as numbers: %j', (sorted) => {
  const orders = sorted.map(addressRank);
  expect([...orders].sort()).toEqual(orders);
});

describe('the endpoints of a service port', () => {
  it('are sorted by address, those that came last before them', () => {
    const arrivals = lastArrivals([came(1, '+10.0.0.3:80'), came(2, '-10.0.0.9:80', '+10.0.0.20:80')]);
    const endpoints = [at('10.0.0.20'), at('10.0.0.3'), at('10.0.0.3', 8080), at('10.0.0.9')];
    expect(newestFirst(endpoints, arrivals).map(({ address, port }) => `${address}:${port}`)).toEqual([
      '10.0.0.20:80',
      '10.0.0.3:80',
      '10.0.0.3:8080',
      '10.0.0.9:80',
    ]);
  });

  it('came when the last change says, and only few are news', () => {
    const changes = Array.from({ length: 9 }, (_, number) => came(number, `+10.0.0.${number}:80`));
    expect([...lastArrivals([...changes, came(20, '+10.0.0.3:80')])]).toEqual([
      ['10.0.0.3:80', timeText(20)],
      ['10.0.0.8:80', timeText(8)],
      ['10.0.0.7:80', timeText(7)],
      ['10.0.0.6:80', timeText(6)],
      ['10.0.0.5:80', timeText(5)],
    ]);
  });

  it('are no news once they have left', () => {
    const changes = [
      came(1, '+10.0.0.1:80', '+10.0.0.2:80'),
      came(2, '-10.0.0.2:80'),
      came(3, '+10.0.0.3:80'),
    ];
    expect([...lastArrivals(changes).keys()]).toEqual(['10.0.0.3:80', '10.0.0.1:80']);
    expect([...lastArrivals([...changes, came(4, '+10.0.0.2:80')]).keys()][0]).toBe('10.0.0.2:80');
  });

  it('that have no connections are apart, unless they answer nobody', () => {
    const report = (address: string, more: Partial<EndpointReport> = {}): EndpointReport => ({
      address,
      port: 80,
      state: 'ready',
      unresponsive: false,
      openConnections: 0,
      newConnections: 0,
      newConnectionsPerSecond: 0,
      unansweredConnections: 0,
      ...more,
    });
    const endpoints = [
      report('10.0.0.6', { unresponsive: true }),
      report('10.0.0.5'),
      report('10.0.0.4', { openConnections: 1 }),
      report('10.0.0.3', { newConnectionsPerSecond: 0.5 }),
      report('10.0.0.2', { unansweredConnections: 1 }),
      report('10.0.0.1'),
    ];
    expect(endpoints.filter(isIdle).map(({ address }) => address)).toEqual(['10.0.0.5', '10.0.0.1']);
  });
});
