import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dump } from 'js-yaml';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryConntrack } from '../../src/testing/fakes/memory-conntrack.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { RecordingBackend } from '../../src/testing/fakes/recording-backend.js';
import { parseCommandLine } from '../../src/bootstrap/configuration/command-line.js';
import type { OpenMode } from '../../src/bootstrap/modes/mode.js';
import { EmbeddedProxy } from '../../src/bootstrap/embedding.js';
import { composeProxy } from '../../src/bootstrap/proxy.js';
import { until } from '../support/until.js';

/** The program as it is put together, on a folder of manifests, but for the kernel, the servers and the time. */

let folder: string;
let proxy: EmbeddedProxy | undefined;

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'broken-manifests-'));
  proxy = undefined;
});
afterEach(async () => {
  await proxy?.stop();
  fs.rmSync(folder, { recursive: true });
});

const write = (name: string, text: string): void => fs.writeFileSync(join(folder, name), text);

/** A Service with its endpoints. */
function manifest(name: string, number: number, spec: object = {}): string {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { clusterIP: `172.30.0.${number}`, ports: [{ name: 'http', port: 80 }], ...spec },
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080 }],
    endpoints: [{ addresses: [`10.244.0.${number}`] }],
  };
  return `---\n${dump(service)}---\n${dump(slice)}`;
}

/** Starts a proxy over what an earlier one left in the backend. */
async function start(left: RecordingBackend) {
  const backend = new RecordingBackend('IPv4');
  for (const [key, entry] of left.programmed) backend.programmed.set(key, entry);
  const clock = new FakeClock(Date.now());
  const commandLine = parseCommandLine(
    ['--proxy-mode', 'nftables', '--manifests', folder, '--hostname-override', 'node1'],
    { readFile: () => '', hostname: () => 'host' },
  );
  const mode: OpenMode = {
    name: 'nftables',
    families: ['IPv4'],
    means: {},
    backend: () => backend,
    close: () => Promise.resolve(),
  };
  const parts = composeProxy(commandLine, mode, new MemoryLogger(), {
    clock: () => clock,
    conntrack: () => new MemoryConntrack(),
    localAddresses: () => ({ list: () => ['127.0.0.1', '192.0.2.4'] }),
    healthServer: () => undefined,
    metricsServer: () => undefined,
  });
  const { source, readiness } = parts;
  proxy = new EmbeddedProxy(parts);
  await proxy.start();
  const programmed = (): string =>
    [...backend.programmed.keys()]
      .map((key) => key.split('/')[1]!)
      .sort()
      .join();
  return {
    backend,
    programmed,
    problems: () => source.problems,
    sources: () => readiness.verdict().checks.find(({ name }) => name === 'sources')?.reason,
    /** Lets the clock run, and files be read, until the condition holds. */
    async until(condition: () => boolean): Promise<void> {
      await until(condition.toString(), async () => {
        if (!condition()) await clock.advanceAsync(500);
        return condition();
      });
    },
  };
}

async function servingBoth(): Promise<RecordingBackend> {
  write('a.yaml', manifest('a', 1));
  write('b.yaml', manifest('b', 2));
  const { backend, programmed, until } = await start(new RecordingBackend('IPv4'));
  await until(() => programmed() === 'a,b');
  await proxy!.stop();
  return backend;
}

describe.each([
  ['does not parse', (text: string) => text.replace('kind: Service', 'kind: [Service')],
  ['holds a Service that decoding rejects', (text: string) => text.replace('172.30.0.2', '172.30.0')],
  [
    'holds a Service that the API server would refuse',
    (text: string) => text.replace('clusterIP:', 'sessionAffinity: Cookie\n  clusterIP:'),
  ],
  ['holds a slice without a name', (text: string) => text.replace('name: b-1', 'nmae: b-1')],
  ['holds a slice of another version', (text: string) => text.replace('k8s.io/v1', 'k8s.io/v1beta1')],
])('a manifest that %s at a start', (_, spoil) => {
  it('leaves the rules that may be of it, until it is mended', async () => {
    const left = await servingBoth();
    const sound = manifest('b', 2);
    write('b.yaml', spoil(sound));
    fs.rmSync(join(folder, 'a.yaml'));
    const { programmed, problems, sources, until, backend } = await start(left);
    await until(() => backend.calls.some(({ method }) => method === 'start'));
    expect(programmed()).toBe('a,b');
    expect(problems()).toEqual([expect.stringMatching(/^.*b\.yaml:\d+.*: ./)]);
    expect(sources()).toBe(problems()[0]);

    write('b.yaml', sound);
    await until(() => programmed() === 'b');
    expect([problems(), sources()]).toEqual([[], undefined]);
  });
});

it('a Service without slices is programmed at once beside a file that is wrong at a start', async () => {
  const left = await servingBoth();
  write('b.yaml', 'kind: [');
  write('c.yaml', manifest('c', 3).split('---\n')[1]!);
  const { programmed, until } = await start(left);
  await until(() => programmed() === 'a,b,c');
});
