import { ProxyHealth, Supervision } from '../../../src/application/health/proxy-health.js';
import type { ServiceManager } from '../../../src/application/ports/health.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';

const TIMEOUT = 60_000;
let clock: FakeClock;
let health: ProxyHealth;
let told: string[];

function supervise(watchdogMilliseconds?: number): Supervision {
  const manager: ServiceManager = {
    ...(watchdogMilliseconds !== undefined && { watchdogMilliseconds }),
    ready: () => told.push('ready'),
    alive: () => told.push('alive'),
    status: (text) => told.push(text),
    stopping: () => told.push('stopping'),
  };
  const supervision = new Supervision(manager, health, clock);
  supervision.start();
  return supervision;
}

beforeEach(() => {
  clock = new FakeClock();
  health = new ProxyHealth(clock, TIMEOUT);
  told = [];
});

const tellings = (what: string): number => told.filter((one) => one === what).length;

describe('Supervision', () => {
  it('is ready once, when everything has been programmed', () => {
    supervise();
    health.loopStarted('IPv4');
    health.loopStarted('IPv6');
    health.finished('IPv4', { ok: true });
    clock.advance(1_000);
    expect(tellings('ready')).toBe(0);
    health.finished('IPv6', { ok: true });
    clock.advance(1_000);
    expect(tellings('ready')).toBe(1);
    expect(told.filter((one) => one !== 'alive').slice(-2)).toEqual(['ready', 'everything is programmed']);
    clock.advance(100_000);
    expect(tellings('ready')).toBe(1);
  });

  it('says what it waits for, each reason once', () => {
    supervise();
    clock.advance(10_000);
    expect(told.filter((one) => one !== 'alive')).toEqual(['the sync loop has not started']);
  });

  it('is alive twice in the time that the watchdog allows, and asks for nothing in between', () => {
    supervise(30_000);
    health.loopStarted('IPv4');
    health.finished('IPv4', { ok: true });
    clock.advance(250);
    told = [];
    clock.advance(60_000);
    expect(tellings('alive')).toBe(4);
    expect(clock.pending).toBe(1);
  });

  it('is not alive while a sync is overdue', () => {
    supervise(30_000);
    health.loopStarted('IPv4');
    health.finished('IPv4', { ok: true });
    clock.advance(250);
    health.queued('IPv4');
    clock.advance(TIMEOUT);
    told = [];
    clock.advance(60_000);
    expect(tellings('alive')).toBe(0);
    health.dequeued('IPv4');
    health.finished('IPv4', { ok: true });
    clock.advance(15_000);
    expect(tellings('alive')).toBe(1);
  });

  it('sleeps for good without a watchdog, once it is ready', () => {
    const supervision = supervise();
    health.loopStarted('IPv4');
    health.finished('IPv4', { ok: true });
    clock.advance(250);
    expect(clock.pending).toBe(0);
    supervision.stop();
    expect(told.at(-1)).toBe('stopping');
  });
});
