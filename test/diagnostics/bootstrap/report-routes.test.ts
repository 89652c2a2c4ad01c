import { VariantMix } from '../../../src/adapters/iptables/variants.js';
import type { ProxyStatus } from '../../../src/diagnostics/application/status/proxy-status.js';
import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { backendMode } from '../../../src/bootstrap/embedding.js';
import { composeProxy } from '../../../src/bootstrap/proxy.js';
import { debugRoutes } from '../../../src/diagnostics/bootstrap/debug-routes.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';
import { ScriptedSource } from '../../../src/testing/fakes/scripted-source.js';
import { Served } from '../../support/http/served.js';

let served: Served | undefined;
afterEach(() => served?.stop());

it.each(['1.36', '1.37', '1.38'])('the status names the release to behave as: %s', async (release) => {
  const flags = ['--proxy-mode=nftables', `--kubernetes-version=${release}`, '--version=v1.30.1'];
  const commandLine = parseCommandLine(flags, { readFile: () => '', hostname: () => 'node1' });
  const mode = backendMode('nftables', [new RecordingBackend('IPv4')]);
  const parts = composeProxy(commandLine, mode, new MemoryLogger(), {
    source: () => new ScriptedSource(),
  });
  served = await Served.start(debugRoutes(parts, parts.clock.now()));
  expect(await (await served.get('/debug/status')).json()).toMatchObject({
    versions: { kubernetes: `v${release}.0` },
  });
});

it('the status warns of rules of the other variant of iptables, and is good all the same', async () => {
  const commandLine = parseCommandLine(['--proxy-mode=iptables'], {
    readFile: () => '',
    hostname: () => 'node1',
  });
  const find = (): Promise<readonly string[]> => Promise.resolve(['there are rules of iptables-legacy']);
  const variantMix = new VariantMix(find, new FakeClock());
  const mode = { ...backendMode('iptables', [new RecordingBackend('IPv4')]), variantMix };
  const parts = composeProxy(commandLine, mode, new MemoryLogger(), {
    source: () => new ScriptedSource(),
  });
  served = await Served.start(debugRoutes(parts, parts.clock.now()));
  const status = (await (await served.get('/debug/status')).json()) as ProxyStatus;
  expect(status.warnings).toEqual(['there are rules of iptables-legacy']);
  expect(status.reasons.join()).not.toContain('legacy');
});
