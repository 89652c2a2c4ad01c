import type { ClusterEvent } from '../../../src/application/ports/event-recorder.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { degradedPortEvents } from '../../../src/application/use-cases/port-events.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { servicePortKey } from '../../../src/domain/model/service-port-name.js';

it('a port that is served with limits is an event, once for each reason', () => {
  const posted: ClusterEvent[] = [];
  const recorder = { record: (event: ClusterEvent) => posted.push(event) };
  const statuses = new ServiceStatuses(undefined, degradedPortEvents(recorder, 'n1', new FakeClock()));
  const key = servicePortKey({ namespace: 'shop', name: 'cart', port: 'http', protocol: 'TCP' });
  const degraded = (reason: string, isHeld = false) =>
    statuses.set('IPv4', key, {
      state: 'degraded',
      sinceTime: 'now',
      reason,
      ...(isHeld && { conflicts: [{ frontend: '10.96.0.1:80/TCP', owner: 'shop/other' }] }),
    });
  degraded('mode iptables cannot choose by maglev');
  degraded('mode iptables cannot choose by maglev');
  degraded('another one');
  degraded('10.96.0.1:80/TCP belongs to shop/other', true);
  expect(posted.map(({ reason, note }) => [reason, note])).toEqual([
    [
      'ServicePortDegraded',
      'node n1 serves tcp/http (IPv4) with limits: mode iptables cannot choose by maglev',
    ],
    ['ServicePortDegraded', 'node n1 serves tcp/http (IPv4) with limits: another one'],
    [
      'FrontendConflict',
      'node n1 serves tcp/http (IPv4) with limits: 10.96.0.1:80/TCP belongs to shop/other',
    ],
  ]);
});

it('a Service with very many ports has a few events at once', () => {
  const posted: ClusterEvent[] = [];
  const clock = new FakeClock();
  const record = degradedPortEvents({ record: (event) => posted.push(event) }, 'n1', clock);
  const degraded = { state: 'degraded', sinceTime: 'now', reason: 'it' } as const;
  for (let port = 0; port < 1000; port++) record('IPv4', `shop/cart/tcp/p${port}`, degraded);
  record('IPv4', 'shop/pay/tcp/', degraded);
  expect(posted.map(({ regarding }) => regarding.name)).toEqual([...Array<string>(5).fill('cart'), 'pay']);
  clock.advance(60_000);
  record('IPv4', 'shop/cart/tcp/p7', degraded);
  expect(posted).toHaveLength(7);
});
