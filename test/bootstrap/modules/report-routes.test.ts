import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { backendMode } from '../../../src/bootstrap/embedding/backend-mode.js';
import { composeProxy } from '../../../src/bootstrap/proxy.js';
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
  const { parts } = composeProxy(commandLine, mode, new MemoryLogger(), {
    source: () => new ScriptedSource(),
  });
  served = await Served.start(parts.metricsRoutes);
  expect(await (await served.get('/debug/status')).json()).toMatchObject({
    versions: { kubernetes: `v${release}.0` },
  });
});
