import { iptablesBackend } from '../../support/backends.js';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { XtablesLockedError } from '../../../src/adapters/iptables/iptables-commands.js';
import { ToolMissingError } from '../../../src/adapters/tool-programs.js';
import { PrometheusMetrics } from '../../../src/adapters/metrics/prometheus-metrics.js';
import { Sync } from '../../../src/application/use-cases/sync.js';
import { SyncLoop } from '../../../src/application/sync/sync-loop.js';
import { Bench } from '../../application/sync/bench.js';
import { HOST } from '../../support/iptables/services.js';
import { parseExposition } from '../../support/metrics/exposition.js';

/** A proxy of mode iptables that has programmed the Service `a`. */
class Proxy {
  readonly bench = new Bench();
  readonly iptables = new MemoryIptables();
  private readonly metrics: PrometheusMetrics;
  private readonly loop: SyncLoop;

  constructor() {
    const { state, context, statuses, clock, logger } = this.bench;
    const metrics = new PrometheusMetrics({
      clock,
      mode: 'iptables',
      version: 'v1.36.0',
      programVersion: '1.2.3',
      features: [],
    });
    const host = () => Promise.resolve(HOST);
    const backend = iptablesBackend('IPv4', this.iptables, this.iptables.watch(), host, logger, {
      observer: metrics,
    });
    const sync = new Sync(state, backend, { of: () => context }, statuses, clock, logger);
    const periods = { syncPeriod: 30_000, minSyncPeriod: undefined };
    this.loop = new SyncLoop(sync, backend, periods, metrics, clock, logger);
    this.metrics = metrics;
  }

  async begin(): Promise<this> {
    this.bench.put('a');
    this.loop.initialized();
    await this.loop.firstAttempt;
    await this.pass(20);
    return this;
  }

  /** Lets time pass, and what is to be done in it be done: the driver takes breaths that no clock knows of. */
  async pass(milliseconds: number): Promise<void> {
    await this.bench.clock.advanceAsync(milliseconds);
    for (let breath = 0; breath < 100; breath++) await yieldToEventLoop();
  }

  async add(name: string): Promise<void> {
    this.bench.put(name);
    this.loop.pending.serviceChanged(`shop/${name}`);
    this.loop.changed();
    await this.pass(20);
  }

  async failures(): Promise<{ readonly all: number; readonly partial: number }> {
    const shown = parseExposition(await this.metrics.exposition());
    const count = (what: string) => {
      const name = `kubeproxy_sync_proxy_rules_iptables_${what}failures_total`;
      return shown.get(name)?.samples.get(`${name}{ip_family="IPv4"}`) ?? 0;
    };
    return { all: count('restore_'), partial: count('partial_restore_') };
  }
}

describe('restores that fail', () => {
  it.each([
    ['there is no such tool', new ToolMissingError('iptables-restore', 'iptables')],
    ['the lock stays held', new XtablesLockedError('iptables-restore', 5, '/run/xtables.lock')],
  ])('count as a failed sync of changes when %s, once until all is well', async (_, error) => {
    const proxy = await new Proxy().begin();
    proxy.iptables.fail(error);
    await proxy.add('b');
    expect(await proxy.failures()).toEqual({ all: 1, partial: 1 });
    const [said] = proxy.bench.logger.at('error');
    expect(said).toMatchObject({ message: 'sync failed; will retry' });
    // Tried again with everything, as kube-proxy does: that is no sync of changes.
    await proxy.pass(5000);
    expect(await proxy.failures()).toMatchObject({ partial: 1 });
    proxy.iptables.fail(undefined);
    await proxy.pass(30_000);
    await proxy.add('c');
    proxy.iptables.fail(error);
    await proxy.add('d');
    expect(await proxy.failures()).toMatchObject({ partial: 2 });
  });

  it('count once for a sync of changes that goes on without the service port to blame', async () => {
    const proxy = await new Proxy().begin();
    await proxy.add('c');
    expect(await proxy.failures()).toEqual({ all: 0, partial: 0 });
    proxy.iptables.refuse((line) => (line.includes('shop/b') ? 'refused' : undefined));
    await proxy.add('b');
    const { all, partial } = await proxy.failures();
    expect(all).toBeGreaterThan(1);
    expect(partial).toBe(1);
  });
});
