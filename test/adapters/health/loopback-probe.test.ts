import { connect } from 'node:net';
import { once } from 'node:events';
import { LoopbackProbe } from '../../../src/adapters/health/loopback-probe.js';
import { SystemClock } from '../../../src/adapters/process/system-clock.js';
import type { Clock } from '../../../src/application/ports/clock.js';
import type { OpenForwardingProbe } from '../../../src/application/ports/node/forwarding-probe.js';

/** Time as for a process whose event loop is so late that each of its turns takes the time of a timer. */
const LATE_CLOCK: Clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after(_, callback) {
    const timer = setImmediate(() => {
      const end = performance.now() + 50;
      while (performance.now() < end);
      callback();
    });
    return { cancel: () => clearImmediate(timer) };
  },
};

let probe: OpenForwardingProbe;
beforeEach(async () => {
  probe = await new LoopbackProbe(new SystemClock()).open('IPv4');
});
afterEach(() => probe.close());

/** Its connections go to its endpoint, as when rules translate them. */
const translated = (one: OpenForwardingProbe): OpenForwardingProbe =>
  Object.assign(Object.create(one) as OpenForwardingProbe, { frontend: one.endpoint });

it('shows that no rule translates connections to its frontend', async () => {
  expect(await probe.attempt()).toContain('no rule leads connections to the frontend of the check');
});

it('succeeds when connections reach its endpoint', async () => {
  expect(await translated(probe).attempt()).toBeUndefined();
});

it('does not count the time for which the event loop is late', async () => {
  const late = await new LoopbackProbe(LATE_CLOCK).open('IPv4');
  expect(await translated(late).attempt()).toBeUndefined();
  late.close();
});

it('fails when its ports are closed', async () => {
  probe.close();
  expect(await probe.attempt()).toBe('the connection failed: ECONNREFUSED');
});

it.each(['frontend', 'endpoint'] as const)('answers no other client: %s', async (port) => {
  const client = connect({ host: '127.0.0.1', port: probe[port] });
  let received = '';
  client.on('data', (data) => (received += data.toString()));
  client.on('error', () => {});
  client.end('GET / HTTP/1.1\r\n\r\n');
  await once(client, 'close').catch(() => {});
  expect(received).toBe('');
});
