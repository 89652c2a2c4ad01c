import { followRelease } from '../../src/bootstrap/follow-release.js';
import { releaseOfServer } from '../../src/bootstrap/configuration/releases.js';
import { ConfigurationError } from '../../src/bootstrap/configuration/errors.js';
import { SystemClock } from '../../src/adapters/process/system-clock.js';
import type { Clock } from '../../src/application/ports/clock.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { StandInApiServer } from '../support/api-server/api-server.js';
import { writeKubeconfig } from '../support/api-server/kubeconfig.js';
import { parseCommand } from '../support/command-line.js';

let api: StandInApiServer;
let kubeconfig: string;
let logger: MemoryLogger;
beforeEach(async () => {
  api = await StandInApiServer.start();
  kubeconfig = await writeKubeconfig(api);
  logger = new MemoryLogger();
});
afterEach(() => api.close());

/**
 * @param file the configuration file, if there is one
 * @param clock otherwise one that stands still: the API server may take its time
 */
function followed(flags: readonly string[], file?: string, clock: Clock = new FakeClock()) {
  const argv = file === undefined ? ['--kubeconfig', kubeconfig] : ['--config', '/file'];
  const commandLine = parseCommand([...argv, ...flags], {
    readFile: () => file!,
    hostname: () => 'n1',
  });
  return followRelease(commandLine, logger, new AbortController().signal, clock);
}

const fileWith = (fields: string): string =>
  `apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nclientConnection: {kubeconfig: ${kubeconfig}}\n${fields}`;

it('follows an API server of 1.38, where no release is configured', async () => {
  api.version = '1.38';
  for (const commandLine of [await followed([]), await followed([], fileWith(''))]) {
    expect(commandLine.version).toBe('v1.38.0');
    expect(commandLine.configuration.kubernetesVersion).toBe('1.38');
    expect(commandLine.configuration.gates.KubeProxyNFTablesLocalhostNodePorts).toBe(true);
  }
  expect(logger.at('info').map(({ message }) => message)).toEqual(
    Array(2).fill('following the release of the API server'),
  );
  expect((await followed(['--version=v1.2.3'])).version).toBe('v1.2.3');
});

it.each(['1.36', '1.37'])('does not follow an API server of %s', async (version) => {
  api.version = version;
  const { configuration } = await followed([]);
  expect(configuration.kubernetesVersion).toBe('1.37');
  expect(configuration.gates.KubeProxyNFTablesLocalhostNodePorts).toBe(false);
});

it('does not ask where a release is configured, or there is no API server', async () => {
  api.version = '1.38';
  expect((await followed(['--kubernetes-version=1.37'])).configuration.kubernetesVersion).toBe('1.37');
  const file = fileWith('kubernetesVersion: 1.36\n');
  expect((await followed([], file)).configuration.kubernetesVersion).toBe('1.36');
  expect((await followed(['--manifests', '/etc'])).configuration.kubernetesVersion).toBe('1.37');
  expect(logger.lines).toEqual([]);
});

it('keeps gates that are configured', async () => {
  api.version = '1.38';
  const { configuration } = await followed(['--feature-gates=KubeProxyNFTablesLocalhostNodePorts=false']);
  expect(configuration.gates.KubeProxyNFTablesLocalhostNodePorts).toBe(false);
});

it('uses the default if the API server does not answer', async () => {
  await api.close();
  const { configuration } = await followed([], undefined, new SystemClock());
  expect(configuration.kubernetesVersion).toBe('1.37');
  expect(logger.at('info').map(({ message }) => message)).toEqual([
    expect.stringMatching(/^cannot read the version of the API server/),
  ]);
});

it('rejects what the release does not accept', async () => {
  api.version = '1.38';
  const flags = ['--show-hidden-metrics-for-version=1.36'];
  await expect(followed(flags)).rejects.toThrow(ConfigurationError);
});

it.each([
  ['1', '37', undefined],
  ['1', '38', '1.38'],
  ['1', '38+', '1.38'],
  ['1', '41', '1.38'],
  ['2', '0', undefined],
  ['', '', undefined],
] as const)('a server of %s.%s', (major, minor, release) => {
  expect(releaseOfServer({ major, minor })).toBe(release);
});
