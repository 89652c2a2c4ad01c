import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { ApiConnectionError, ApiError } from '../../../../src/adapters/kubernetes/client/api-error.js';
import { CommandStartError, PodExec } from '../../../../src/diagnostics/adapters/kubernetes/pod-exec.js';
import { SystemClock } from '../../../../src/adapters/process/system-clock.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import type { ContainerCommand } from '../../../support/api-server/container-commands.js';
import { writeKubeconfig, type Identification } from '../../../support/api-server/kubeconfig.js';

const PLACE = { namespace: 'kube-system', pod: 'kube-proxy-1', container: 'kube-proxy' };
const NEVER = new AbortController().signal;

let api: StandInApiServer;
const clients: ApiClient[] = [];

beforeAll(async () => {
  api = await StandInApiServer.start();
});
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});
afterAll(() => api.close());

async function exec(identification?: Identification): Promise<PodExec> {
  const clock = new SystemClock();
  const client = new ApiClient({ kubeconfig: await writeKubeconfig(api, identification) }, clock);
  clients.push(client);
  return new PodExec(client, clock);
}

it.each([
  ['v5.channel.k8s.io', { token: 'stand-in-token' }],
  ['v4.channel.k8s.io', 'client-certificate'],
] as const)('runs a command and keeps its channels apart, over %s', async (protocol, identification) => {
  const asked: ContainerCommand[] = [];
  api.containers.protocol = protocol;
  api.containers.run = (command) => {
    asked.push(command);
    return { exitCode: 2, stdout: `${'out '.repeat(1000)}ü`, stderr: 'err' };
  };
  const outcome = await (await exec(identification)).run(PLACE, ['say', 'a b', '-o=json'], NEVER);
  expect(outcome).toEqual({ exitCode: 2, stdout: `${'out '.repeat(1000)}ü`, stderr: 'err' });
  expect(asked).toEqual([{ ...PLACE, command: ['say', 'a b', '-o=json'] }]);
});

it('gives the exit code 0 of success', async () => {
  api.containers.run = () => ({ exitCode: 0 });
  await expect((await exec()).run(PLACE, ['true'], NEVER)).resolves.toEqual({
    exitCode: 0,
    stdout: '',
    stderr: '',
  });
});

it('says with the words of the API server why it refuses', async () => {
  api.containers.run = () => ({ refusal: 403, reason: 'Forbidden', message: 'eve may not' });
  const refused = (await exec()).run(PLACE, ['true'], NEVER);
  await expect(refused).rejects.toThrow(ApiError);
  await expect(refused).rejects.toMatchObject({ code: 403, detail: '403 Forbidden: eve may not' });
});

it('is refused without credentials', async () => {
  const refused = (await exec({ token: 'of somebody else' })).run(PLACE, ['true'], NEVER);
  await expect(refused).rejects.toMatchObject({ code: 401 });
});

it('tells apart what was never started', async () => {
  api.containers.run = () => ({ failure: 'exec: "true": executable file not found in $PATH' });
  const failed = (await exec()).run(PLACE, ['true'], NEVER);
  await expect(failed).rejects.toThrow(CommandStartError);
  await expect(failed).rejects.toThrow('executable file not found');
});

it('does not take a connection that breaks for an end', async () => {
  api.containers.run = () => 'broken';
  const broken = (await exec()).run(PLACE, ['true'], NEVER);
  await expect(broken).rejects.toThrow(ApiConnectionError);
  await expect(broken).rejects.toThrow('the connection ended before the command did');
});

it('stops when it is told to, and says why', async () => {
  api.containers.run = () => new Promise(() => {});
  const hanging = (await exec()).run(PLACE, ['true'], AbortSignal.timeout(50));
  await expect(hanging).rejects.toMatchObject({ name: 'TimeoutError' });
});
