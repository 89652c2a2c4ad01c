import { CheckForwarding } from '../../../src/application/health/check-forwarding.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { CHECK_KEY } from '../../../src/domain/forwarding/forwarding-check.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';
import { RecordingEvents } from '../../../src/testing/fakes/recording-events.js';
import { ScriptedForwardingProbe } from '../../support/fakes/scripted-forwarding-probe.js';
import { nodeNetwork } from '../../support/iptables/services.js';

const PERIOD = 10_000;
const NODE = nodeNetwork();
const DROPPED = 'no answer within 5 s';

/** A check of one family, whose backend has started. */
class Bench {
  readonly clock = new FakeClock();
  readonly probe = new ScriptedForwardingProbe();
  readonly recorded = new RecordingBackend();
  readonly events = new RecordingEvents();
  readonly logger = new MemoryLogger();
  readonly health = new ProxyHealth(this.clock, 60_000);
  setting: string | undefined;
  readonly check = new CheckForwarding({
    nodeName: 'node1',
    probe: this.probe,
    obstacles: () => ({ renew: () => Promise.resolve(), notForwarded: () => this.setting }),
    health: this.health,
    events: this.events,
    clock: this.clock,
    logger: this.logger,
  });
  readonly backend: Backend = this.check.checked(this.recorded);

  async start(): Promise<this> {
    await this.backend.start([], NODE);
    this.health.loopStarted('IPv4');
    this.health.finished('IPv4', { ok: true });
    this.check.start();
    return this;
  }

  get isHealthy(): boolean {
    return this.health.verdict().healthy;
  }

  /** Whether it is healthy after each of so many checks. */
  async checks(count: number): Promise<readonly boolean[]> {
    const healthy: boolean[] = [];
    for (let done = 0; done < count; done++) {
      await this.clock.advanceAsync(PERIOD);
      healthy.push(this.isHealthy);
    }
    return healthy;
  }
}

const problems = (family: IpFamily, problem: string | undefined, { probe }: Bench): void => {
  if (problem === undefined) probe.problems.delete(family);
  else probe.problems.set(family, problem);
};

describe('health', () => {
  it('fails after three failures in a row, and recovers with the first success', async () => {
    const bench = await new Bench().start();
    expect(await bench.checks(2)).toEqual([true, true]);
    problems('IPv4', DROPPED, bench);
    expect(await bench.checks(4)).toEqual([true, true, false, false]);
    expect(bench.health.verdict().reason).toBe(
      `IPv4: the last checks of forwarding failed, at least 3 in a row: ${DROPPED}`,
    );
    expect(bench.check.faults).toEqual([{ family: 'IPv4', port: 40_000 }]);
    expect(bench.health.liveness().healthy).toBe(true);
    problems('IPv4', undefined, bench);
    expect(await bench.checks(1)).toEqual([true]);
    expect(bench.check.faults).toEqual([]);
    expect(bench.check.states).toEqual(new Map([['IPv4', { failuresInARow: 0, totalFailures: 4 }]]));
    expect(bench.events.events.map(({ type, reason, note }) => [type, reason, note])).toEqual([
      [
        'Warning',
        'ForwardingFailed',
        `IPv4: the last checks of forwarding failed, at least 3 in a row: ${DROPPED}`,
      ],
      ['Normal', 'ForwardingRecovered', 'IPv4: packets to Services are forwarded again'],
    ]);
  });

  it('does not fail when a success is among the failures', async () => {
    const bench = await new Bench().start();
    for (const problem of [DROPPED, DROPPED, undefined, DROPPED, DROPPED, undefined]) {
      problems('IPv4', problem, bench);
      expect(await bench.checks(1)).toEqual([true]);
    }
    expect(bench.events.events).toEqual([]);
  });

  it('fails by a setting of the kernel, and recovers when it is set', async () => {
    const bench = await new Bench().start();
    bench.setting = 'net.ipv4.ip_forward is 0';
    expect(await bench.checks(3)).toEqual([true, true, false]);
    expect(bench.health.verdict().reason).toContain('net.ipv4.ip_forward is 0');
    expect(bench.check.faults).toEqual([]);
    bench.setting = undefined;
    expect(await bench.checks(1)).toEqual([true]);
  });

  it('fails when the rules of the check cannot be programmed, as without a module of the kernel, until a verification programs them', async () => {
    const bench = new Bench();
    bench.recorded.poisoned.set(CHECK_KEY, 'the kernel lacks nft_fib');
    await bench.start();
    expect(await bench.checks(3)).toEqual([true, true, false]);
    expect(bench.health.verdict().reason).toContain('cannot be programmed: the kernel lacks nft_fib');
    expect(bench.probe.attempts).toBe(0);
    await bench.backend.verify('quick');
    expect(await bench.checks(1)).toEqual([false]);
    bench.recorded.poisoned.clear();
    await bench.backend.verify('quick');
    expect(await bench.checks(1)).toEqual([true]);
    expect(bench.probe.attempts).toBe(1);
  });
});

describe('the backend', () => {
  it('gets one more service port, of which its results say nothing', async () => {
    const bench = new Bench();
    bench.recorded.poisoned.set(CHECK_KEY, 'EINVAL');
    expect(await bench.backend.start([], NODE)).toEqual({ written: 0, failed: [] });
    bench.recorded.poisoned.clear();
    await bench.backend.apply([], NODE);
    await bench.backend.apply([], NODE);
    await bench.backend.apply([], { ...NODE });
    await bench.backend.verify('full');
    expect(bench.recorded.take().map(({ method, keys }) => `${method} ${keys.join()}`)).toEqual([
      `start ${CHECK_KEY}`,
      `apply ${CHECK_KEY}`,
      'apply ',
      `apply ${CHECK_KEY}`,
      'full ',
    ]);
    expect(bench.recorded.programmed.get(CHECK_KEY)).toMatchObject({
      frontends: [{ kind: 'external-ip', address: '127.0.0.1', port: 40_000 }],
      endpoints: { reachable: [{ address: '127.0.0.1', port: 40_001 }] },
    });
  });

  it('keeps its other members', async () => {
    const { backend, recorded } = new Bench();
    expect([backend.mode, backend.family, 'differences' in backend]).toEqual(['recording', 'IPv4', false]);
    await backend.cleanup();
    expect(recorded.take()).toEqual([{ method: 'cleanup', keys: [] }]);
  });

  it('does without a check while there are no ports, and gets it with the next change', async () => {
    const bench = new Bench();
    bench.probe.unavailable = 'EADDRNOTAVAIL';
    await bench.start();
    expect(bench.recorded.programmed.size).toBe(0);
    expect(await bench.checks(3)).toEqual([true, true, true]);
    expect(bench.check.warnings).toEqual(['IPv4: forwarding is not checked: EADDRNOTAVAIL']);
    expect(bench.check.states.size).toBe(0);
    expect(bench.logger.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    bench.probe.unavailable = undefined;
    await bench.checks(1);
    await bench.backend.verify('quick');
    expect([...bench.recorded.programmed.keys()]).toEqual([CHECK_KEY]);
    await bench.checks(1);
    expect([bench.probe.attempts, bench.check.warnings]).toEqual([1, []]);
  });
});

it('removes its service port, and frees its ports and timers, when it stops', async () => {
  const bench = await new Bench().start();
  expect(bench.probe.openFamilies).toEqual(new Set(['IPv4']));
  await bench.checks(1);
  expect([...bench.recorded.programmed.keys()]).toEqual([CHECK_KEY]);
  await bench.check.stop();
  expect([bench.clock.pending, bench.probe.openFamilies.size]).toEqual([0, 0]);
  expect(bench.recorded.programmed.size).toBe(0);
});

it('leaves its service port to the next process if that takes the same ports', async () => {
  const bench = new Bench();
  bench.probe.isUsual = true;
  await bench.start();
  await bench.check.stop();
  expect([...bench.recorded.programmed.keys()]).toEqual([CHECK_KEY]);
  expect(bench.probe.openFamilies.size).toBe(0);
});

it('stops even if its service port cannot be removed', async () => {
  const bench = await new Bench().start();
  bench.recorded.failure = new Error('EPERM');
  await bench.check.stop();
  await bench.check.stop();
  expect(bench.probe.openFamilies.size).toBe(0);
  expect(bench.logger.lines.at(-1)).toMatchObject({ message: 'cannot remove the rules of the check' });
});
