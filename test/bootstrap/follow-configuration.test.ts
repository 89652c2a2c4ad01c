import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { RecordingBackend } from '../../src/testing/fakes/recording-backend.js';
import { PinoLogger } from '../../src/adapters/process/pino-logger.js';
import { ProxyHealth } from '../../src/application/health/proxy-health.js';
import { CheckNode } from '../../src/application/node/check-node.js';
import { NodeContexts } from '../../src/application/node/node-contexts.js';
import { ServiceStatuses } from '../../src/application/status/service-statuses.js';
import { Sync } from '../../src/application/use-cases/sync.js';
import { SyncLoop } from '../../src/application/sync/sync-loop.js';
import { LiveConfiguration, parseCommandLine } from '../../src/bootstrap/configuration/command-line.js';
import { withMode } from '../../src/bootstrap/configuration/proxy-configuration.js';
import { followConfiguration } from '../../src/bootstrap/follow-configuration.js';
import { checkedSettings, nodeSettings } from '../../src/bootstrap/this-node.js';
import { ClusterState } from '../../src/domain/state/cluster-state.js';
import { RecordingObserver } from '../support/recording-observer.js';
import { HEADER } from './configuration/support.js';

let folder: string;
let file: string;
let stopping: AbortController;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'follow-configuration-'));
  file = join(folder, 'config.conf');
  stopping = new AbortController();
});
afterEach(() => {
  stopping.abort();
  fs.rmSync(folder, { recursive: true });
});

/** In one step: what is half-written would be refused. */
function write(body: string): void {
  fs.writeFileSync(`${file}.new`, HEADER + body);
  fs.renameSync(`${file}.new`, file);
}

/** A proxy over fakes that runs on this configuration in mode nftables and follows the file. */
async function following(body: string, ...flags: readonly string[]) {
  write(body);
  const asked = parseCommandLine(['--config', file, ...flags], {
    readFile: (path) => fs.readFileSync(path, 'utf8'),
    hostname: () => 'node-1',
  });
  const started = { ...asked, configuration: withMode(asked.configuration, 'nftables') };
  const lines: string[] = [];
  const logger = PinoLogger.open({
    verbosity: 0,
    format: 'text',
    stream: { write: (line) => void lines.push(line) },
  });
  const clock = new FakeClock(1_000_000);
  const state = new ClusterState();
  const backend = new RecordingBackend();
  const contexts = new NodeContexts(nodeSettings(started), state, { list: () => [] }, logger);
  const sync = new Sync(state, backend, contexts, new ServiceStatuses(), clock, logger);
  const periods = { syncPeriod: 30_000, minSyncPeriod: undefined };
  const loop = new SyncLoop(sync, backend, periods, new RecordingObserver(), clock, logger);
  const health = new ProxyHealth(clock, 60_000);
  const live = new LiveConfiguration(started);
  const edited = {
    live,
    served: [
      {
        family: loop.family,
        loop,
        healthChecks: undefined,
        conntrack: [],
        localhostNodePorts: undefined,
        resets: [],
      },
    ],
    checkNode: new CheckNode(checkedSettings(started), ['IPv4'], () => state.node, logger),
    contexts,
    health,
  };
  loop.initialized();
  await clock.advanceAsync(0);
  const end = followConfiguration(asked, edited, logger, stopping.signal);
  const logged = async (text: string): Promise<void> => {
    while (!lines.some((line) => line.includes(text))) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  return { backend, clock, end, health, lines, live, logged, logger };
}

describe('followConfiguration', () => {
  it('is quiet while nothing is edited, and ends when aborted', async () => {
    const { end, lines, live } = await following('mode: auto');
    await new Promise((resolve) => setImmediate(resolve));
    stopping.abort();
    await end;
    expect(lines.filter((line) => !line.includes('programmed everything'))).toEqual([]);
    expect(live.current.configuration.mode).toBe('nftables');
  });

  it('hands edits to the rules, the loops, the log and the health, and keeps flags before the file', async () => {
    const { backend, clock, health, live, logged, logger, lines } = await following(
      'mode: nftables\nclusterCIDR: 10.1.0.0/16',
      '--hostname-override=node-2',
    );
    expect(backend.node).toMatchObject({ masqueradeAll: false });
    backend.take();
    write(
      'mode: nftables\nclusterCIDR: 10.2.0.0/16\nnftables: {masqueradeAll: true, syncPeriod: 5s}\n' +
        'logging: {verbosity: 2}\nhostnameOverride: ignored\nunknown: 1',
    );
    await logged('applied the edited configuration');
    expect(lines.join('')).toContain(String.raw`unknown field \"unknown\"`);
    expect(live.current.nodeName).toBe('node-2');
    await clock.advanceAsync(0);
    expect(backend.take()).toMatchObject([{ method: 'apply' }]);
    expect(backend.node).toMatchObject({
      masqueradeAll: true,
      detector: { kind: 'cidr', cidr: { address: '10.2.0.0' } },
    });
    logger.debug({}, 'seen');
    expect(lines.at(-1)).toContain('seen');
    await clock.advanceAsync(5_000);
    expect(backend.take().map(({ method }) => method)).toContain('full');
    health.loopStarted('IPv4');
    health.finished('IPv4', { ok: true });
    health.queued('IPv4');
    clock.advance(10_000);
    expect(health.verdict().healthy).toBe(false);
  });

  it('refuses what is invalid and what does not fit the node, and takes the next good edit', async () => {
    const { backend, clock, live, logged, lines } = await following(
      'mode: nftables\nclusterCIDR: 10.1.0.0/16',
    );
    const before = live.current.configuration;
    backend.take();
    write('mode: nftables\nclusterCIDR: fd00::/48');
    await logged('clusterCIDRs contains only IPv6 addresses');
    expect(live.problem).toContain('kube-proxy configuration is incorrect');
    write('mode: nftables\nclusterCIDR: 10.1.0.0/33\nconntrack: {min: -1}');
    await logged('KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration.Min: Invalid value: -1');
    expect(live.current.configuration).toEqual(before);
    await clock.advanceAsync(0);
    expect(backend.take()).toEqual([]);
    expect(lines.filter((line) => line.includes('rejected'))).toHaveLength(2);
    write('mode: nftables\nclusterCIDR: 10.2.0.0/16');
    await logged('applied the edited configuration');
    expect(live.problem).toBeUndefined();
  });

  it('forgets a problem when the file is as it was', async () => {
    const { live, logged } = await following('mode: nftables');
    write('mode: 5');
    await logged('rejected the edited configuration');
    expect(live.problem).toContain('mode: expected a string, found 5');
    write('mode: nftables');
    await logged('the configuration file matches the active configuration again');
    expect(live.problem).toBeUndefined();
  });

  it('logs how each edited field takes effect', async () => {
    const { lines, logged } = await following('mode: nftables');
    write(
      'mode: nftables\nconfigSyncPeriod: 1m\nnftables: {masqueradeAll: true, syncPeriod: 5s}\niptables: {masqueradeBit: 3}',
    );
    await logged('applied the edited configuration');
    expect(lines.at(-1)).toContain(
      'atOnce=["nftables.syncPeriod"] resync=["nftables.masqueradeAll"] withoutEffect=["iptables.masqueradeBit","configSyncPeriod"]',
    );
  });

  it.each([
    ['mode: iptables', 'mode'],
    ['mode: nftables\nmetricsBindAddress: 127.0.0.1:1', 'metricsBindAddress'],
  ])('asks for a new start after %j', async (edit, field) => {
    const { end, live, lines } = await following('mode: nftables');
    const before = live.current.configuration;
    write(edit);
    await expect(end).rejects.toThrow("content of the proxy server's configuration file was updated");
    expect(live.current.configuration).toEqual(before);
    expect(lines.join('')).toContain(`fields=["${field}"]`);
  });
});
