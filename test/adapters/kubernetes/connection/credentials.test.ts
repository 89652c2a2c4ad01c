import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { Credentials } from '../../../../src/adapters/kubernetes/connection/credentials.js';
import type { Connection } from '../../../../src/adapters/kubernetes/connection/connection.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import {
  makeCertificates,
  sharedCertificates,
  type Certificates,
} from '../../../support/api-server/certificates.js';
import { writeKubeconfig, type Identification } from '../../../support/api-server/kubeconfig.js';
import { CountingClock, service, setUp, until } from '../harness.js';

let certificates: Certificates;
let api: StandInApiServer;
const clients: ApiClient[] = [];

beforeAll(async () => {
  certificates = await sharedCertificates();
});

beforeEach(async () => {
  api = await StandInApiServer.start(certificates);
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await api.close();
});

function clientOf(connection: Connection, credentials = 0, plugin = 30_000): ApiClient {
  const client = new ApiClient(connection, new CountingClock(), { timeouts: { credentials, plugin } });
  clients.push(client);
  return client;
}

async function list(client: ApiClient): Promise<unknown> {
  return client.json({ path: '/api/v1/services' });
}

/** The kubeconfig with the change applied. */
async function edited(file: string, edit: (config: Kubeconfig) => void): Promise<string> {
  const config = JSON.parse(await readFile(file, 'utf8')) as Kubeconfig;
  edit(config);
  await writeFile(file, JSON.stringify(config));
  return file;
}

interface Kubeconfig {
  clusters: { name: string; cluster: Record<string, unknown> }[];
  users?: { name: string; user: Record<string, unknown> }[];
  contexts: { name: string; context: Record<string, string> }[];
  'current-context'?: string;
}

describe('parts of the kubeconfig that a command line replaces', () => {
  it('is identified by a token alone, whatever the kubeconfig names', async () => {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: '/bin/false' } });
    await list(clientOf({ kubeconfig, overrides: { token: 'stand-in-token' } }));
    const file = await writeKubeconfig(api, { tokenFile: 'absent' });
    await list(clientOf({ kubeconfig: file, overrides: { token: 'stand-in-token' } }));
  });

  it('is identified by a token where the context has no user', async () => {
    const kubeconfig = await edited(await writeKubeconfig(api), ({ contexts }) => {
      delete contexts[0]!.context['user'];
    });
    await list(clientOf({ kubeconfig, overrides: { token: 'stand-in-token' } }));
  });

  it('needs no kubeconfig where the server is named', async () => {
    const overrides = { token: 'stand-in-token', insecureSkipTlsVerify: true };
    await list(clientOf({ master: api.url, overrides }));
  });

  it('impersonates a user and groups', async () => {
    const overrides = { as: 'somebody', asGroup: ['one', 'two'] };
    const connection = { kubeconfig: await writeKubeconfig(api), overrides };
    const { options } = await new Credentials(connection, new CountingClock(), 0, 1).current();
    expect(options.headers).toMatchObject({
      'Impersonate-User': 'somebody',
      'Impersonate-Group': ['one', 'two'],
    });
    await list(clientOf(connection));
  });

  it('takes another cluster and another user, and says which do not exist', async () => {
    const kubeconfig = await edited(await writeKubeconfig(api), ({ clusters, users }) => {
      clusters.unshift({ name: 'other', cluster: { server: 'https://192.0.2.1:6443' } });
      users!.unshift({ name: 'stranger', user: { token: 'unknown' } });
    });
    const url = async (overrides: Connection['overrides'] & object) =>
      (await clientOf({ kubeconfig, overrides }).load()).href;
    expect(await url({})).toBe(`${api.url}/`);
    expect(await url({ cluster: 'other' })).toBe('https://192.0.2.1:6443/');
    await expect(url({ cluster: 'absent' })).rejects.toThrow(
      /the cluster "absent", which is not in clusters/,
    );
    await expect(url({ user: 'absent' })).rejects.toThrow(/the user "absent", which is not in users/);
    await expect(list(clientOf({ kubeconfig, overrides: { user: 'stranger' } }))).rejects.toMatchObject({
      code: 401,
    });
  });

  it('verifies with the named authority, or not at all', async () => {
    const kubeconfig = await edited(await writeKubeconfig(api), ({ clusters }) => {
      delete clusters[0]!.cluster['certificate-authority-data'];
      delete clusters[0]!.cluster['certificate-authority'];
    });
    await expect(list(clientOf({ kubeconfig }))).rejects.toMatchObject({ name: 'ApiConnectionError' });
    await list(clientOf({ kubeconfig, overrides: { insecureSkipTlsVerify: true } }));
    const certificateAuthority = join(dirname(kubeconfig), 'authority.crt');
    await writeFile(certificateAuthority, certificates.authority);
    await list(clientOf({ kubeconfig, overrides: { certificateAuthority } }));
  });
});

describe('identification', () => {
  it.each([
    ['token', { token: 'stand-in-token' }] as const,
    ['client certificate', 'client-certificate'] as const,
  ])('by %s', async (_, identification) => {
    const client = clientOf({ kubeconfig: await writeKubeconfig(api, identification) });
    await expect(list(client)).resolves.toMatchObject({ kind: 'ServiceList' });
  });

  it('by token file, relative to the kubeconfig, read again when rotated', async () => {
    const kubeconfig = await writeKubeconfig(api, { tokenFile: 'token' });
    const token = join(dirname(kubeconfig), 'token');
    await writeFile(token, 'stand-in-token\n');
    const client = clientOf({ kubeconfig });
    await list(client);
    api.tokens = new Set(['rotated']);
    await writeFile(token, 'rotated\n');
    await list(client);
    expect(api.requests.map(({ authorization }) => authorization)).toEqual([
      'Bearer stand-in-token',
      'Bearer rotated',
    ]);
  });

  it('is read again at once when the server refuses it', async () => {
    const kubeconfig = await writeKubeconfig(api, { tokenFile: 'token' });
    await writeFile(join(dirname(kubeconfig), 'token'), 'stand-in-token');
    const client = clientOf({ kubeconfig }, 3_600_000);
    await list(client);
    api.tokens = new Set(['rotated']);
    await writeFile(join(dirname(kubeconfig), 'token'), 'rotated');
    await expect(list(client)).rejects.toMatchObject({ name: 'ApiError', code: 401, reason: 'Unauthorized' });
    await list(client);
  });

  it('is read again when the kubeconfig itself changed', async () => {
    const kubeconfig = await writeKubeconfig(api);
    const client = clientOf({ kubeconfig });
    await list(client);
    api.tokens = new Set(['second']);
    await edited(kubeconfig, (config) => (config.users![0]!.user = { token: 'second' }));
    await list(client);
  });

  it('by an exec plugin next to the kubeconfig, which runs non-interactively', async () => {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: './plugin', args: ['x'] } });
    const plugin = join(dirname(kubeconfig), 'plugin');
    const info = join(dirname(kubeconfig), 'info');
    const credential = JSON.stringify({ kind: 'ExecCredential', status: { token: 'stand-in-token' } });
    await writeFile(plugin, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" > ${info}\necho '${credential}'\n`);
    await chmod(plugin, 0o755);
    await list(clientOf({ kubeconfig }));
    expect(JSON.parse(await readFile(info, 'utf8'))).toEqual({
      kind: 'ExecCredential',
      apiVersion: 'client.authentication.k8s.io/v1',
      spec: { interactive: false },
    });
  });

  it('by an exec plugin that runs again only when its credential has expired', async () => {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: './plugin' } });
    const folder = dirname(kubeconfig);
    const print = (expirationTimestamp: string) =>
      writeFile(
        join(folder, 'credential'),
        JSON.stringify({ status: { token: 'stand-in-token', expirationTimestamp } }),
      );
    await writeFile(join(folder, 'plugin'), `#!/bin/sh\ncd ${folder} && echo >> runs && cat credential\n`);
    await chmod(join(folder, 'plugin'), 0o755);
    const client = clientOf({ kubeconfig });
    await print('2000-01-01T00:00:00Z');
    await list(client);
    await print('9000-01-01T00:00:00Z');
    for (let times = 0; times < 3; times++) await list(client);
    expect(await readFile(join(folder, 'runs'), 'utf8')).toBe('\n\n');
  });

  it('by an exec plugin that runs again once, however many requests with its credential are rejected', async () => {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: './plugin' } });
    const folder = dirname(kubeconfig);
    const credential = JSON.stringify({ status: { token: 'stand-in-token' } });
    await writeFile(
      join(folder, 'plugin'),
      `#!/bin/sh\ncd ${folder} && echo >> runs && echo '${credential}'\n`,
    );
    await chmod(join(folder, 'plugin'), 0o755);
    const credentials = new Credentials({ kubeconfig }, new CountingClock(), 0, 30_000);
    const runs = async () => (await readFile(join(folder, 'runs'), 'utf8')).length;
    const [first, second] = [await credentials.current(), await credentials.current()];
    credentials.renew(first);
    const renewed = await credentials.current();
    credentials.renew(second);
    credentials.renew(first);
    await credentials.current();
    expect(await runs()).toBe(2);
    credentials.renew(renewed);
    await credentials.current();
    expect(await runs()).toBe(3);
    credentials.close();
  });

  it('by an exec plugin that prints something else is an error that does not repeat it', async () => {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: 'echo', args: ['echo secret'] } });
    const failure = clientOf({ kubeconfig }).access();
    await expect(failure).rejects.toThrow(/the exec plugin echo printed no ExecCredential/);
    await expect(failure).rejects.not.toThrow(/secret/);
  });

  it('by name and password, on behalf of somebody', async () => {
    const kubeconfig = await edited(await writeKubeconfig(api), ({ users }) => {
      users![0]!.user = { username: 'me', password: 'secret', as: 'somebody' };
    });
    await expect(list(clientOf({ kubeconfig }))).rejects.toMatchObject({ code: 401 });
    const basic = Buffer.from('me:secret').toString('base64');
    expect(api.requests[0]!.authorization).toBe(`Basic ${basic}`);
    const { options } = await new Credentials({ kubeconfig }, new CountingClock(), 0, 1).current();
    expect(options.headers).toEqual({ 'Impersonate-User': 'somebody' });
  });

  it('by what the kubeconfig contains, before what it names files for', async () => {
    const { client } = certificates;
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const kubeconfig = await edited(await writeKubeconfig(api), ({ clusters, users }) => {
      clusters[0]!.cluster['certificate-authority-data'] = base64(certificates.authority);
      clusters[0]!.cluster['certificate-authority'] = 'missing';
      users![0]!.user = {
        'client-certificate-data': base64(client.certificate),
        'client-certificate': 'missing',
        'client-key-data': base64(client.key),
        'client-key': 'missing',
      };
    });
    await list(clientOf({ kubeconfig }));
  });

  it('by an exec plugin that fails is an error that says so', async () => {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: 'false' } });
    await expect(clientOf({ kubeconfig }).access()).rejects.toMatchObject({
      name: 'CredentialsError',
      message: expect.stringContaining('cannot obtain the credentials (the exec plugin false failed)'),
    });
  });

  describe('by an exec plugin that hangs', () => {
    /** A kubeconfig whose plugin never answers, nor does the process that it starts, which has its number in a file. */
    async function hangingPlugin(): Promise<{ kubeconfig: string; started: () => Promise<number> }> {
      const kubeconfig = await writeKubeconfig(api, { exec: { command: './plugin' } });
      const [plugin, file] = ['plugin', 'pid'].map((name) => join(dirname(kubeconfig), name));
      await writeFile(plugin!, `#!/bin/sh\nsleep 1000 &\necho $! > ${file}\nwait\n`);
      await chmod(plugin!, 0o755);
      const started = async (): Promise<number> => {
        await until(() => existsSync(file!) && readFileSync(file!, 'utf8').endsWith('\n'));
        return Number(readFileSync(file!, 'utf8'));
      };
      return { kubeconfig, started };
    }
    const gone = (pid: number): Promise<void> =>
      until(() => {
        const stat = `/proc/${pid}/stat`;
        return !existsSync(stat) || readFileSync(stat, 'utf8').includes(') Z ');
      });

    it('is an error after its time limit, and it is killed with all that it started', async () => {
      const { kubeconfig, started } = await hangingPlugin();
      const failed = expect(clientOf({ kubeconfig }, 0, 200).access()).rejects.toMatchObject({
        name: 'CredentialsError',
        message: expect.stringMatching(
          /the exec plugin .*plugin did not answer within 200 ms and was killed/,
        ),
      });
      const pid = await started();
      await failed;
      await gone(pid);
    });

    it('does not keep a request that is aborted waiting, and is killed when the client is closed', async () => {
      const { kubeconfig, started } = await hangingPlugin();
      const client = clientOf({ kubeconfig });
      const abort = new AbortController();
      const failed = expect(
        client.json({ path: '/api/v1/services', signal: abort.signal }),
      ).rejects.toMatchObject({ name: 'AbortError' });
      const pid = await started();
      abort.abort();
      await failed;
      client.close();
      await gone(pid);
    });
  });

  it('follows new certificates with new connections', async () => {
    const kubeconfig = await writeKubeconfig(api, 'client-certificate');
    const client = clientOf({ kubeconfig });
    await list(client);
    await list(client);
    expect(api.openConnections).toBe(1);
    const other = await makeCertificates();
    await writeFile(join(dirname(kubeconfig), 'client.crt'), other.client.certificate);
    await writeFile(join(dirname(kubeconfig), 'client.key'), other.client.key);
    await expect(list(client)).rejects.toMatchObject({ code: 401 });
    expect(api.openConnections).toBe(1);
  });

  it('a token rotated under a running source does not stop it', async () => {
    const kubeconfig = await writeKubeconfig(api, { tokenFile: 'token' });
    await writeFile(join(dirname(kubeconfig), 'token'), 'stand-in-token');
    const { source, sink, logger } = setUp({ kubeconfig });
    await source.start(sink, new AbortController().signal);
    await until(() => api.openWatches === 4);
    api.tokens = new Set(['rotated']);
    await writeFile(join(dirname(kubeconfig), 'token'), 'rotated');
    api.disconnectWatches();
    await until(() => api.openWatches === 4 && api.requests.at(-1)!.authorization === 'Bearer rotated');
    api.put(service('web'));
    await until(() => sink.objects.has('Service default/web'));
    // A watch counts as recovered when it has lasted a while.
    await until(() => logger.matching('info', 'recovered').length > 0);
    await source.stop();
  });
});

describe('credentials that are not there yet', () => {
  const saved = { ...process.env };
  afterEach(() => {
    process.env = { ...saved };
  });

  const CREDENTIAL = `echo '{"kind":"ExecCredential","status":{"token":"stand-in-token"}}'`;

  interface Pending {
    readonly connection: Connection;
    /** What the log and the status report meanwhile. */
    readonly reported: RegExp;
    /** Missing: time is enough. */
    readonly arrive?: () => Promise<unknown>;
  }

  /** An exec plugin beside a kubeconfig; its first call does something else. */
  async function plugin(first: string, reported: RegExp): Promise<Pending> {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: './plugin' } });
    const folder = dirname(kubeconfig);
    const script = `#!/bin/sh\nif mkdir ${folder}/once; then ${first}; exit; fi\n${CREDENTIAL}\n`;
    await writeFile(join(folder, 'plugin'), script, { mode: 0o755 });
    return { connection: { kubeconfig }, reported };
  }

  async function file(
    identification: Identification,
    name: string,
    reported: RegExp,
    { unfinished, complete }: { unfinished?: string; complete?: string } = {},
  ): Promise<Pending> {
    const kubeconfig = await writeKubeconfig(api, identification);
    const path = join(dirname(kubeconfig), name);
    const text = complete ?? (await readFile(path, 'utf8'));
    if (unfinished === undefined) await rm(path, { force: true });
    else await writeFile(path, unfinished);
    return {
      connection: { kubeconfig },
      reported,
      arrive: () => writeFile(path, text, { mode: 0o755 }),
    };
  }

  const half = (pem: string): string => pem.slice(0, pem.length / 2);
  const certificate = 'client-certificate';
  const tokenFile = { tokenFile: 'token' };
  const complete = 'stand-in-token';

  it.each<[string, () => Promise<Pending>]>([
    [
      'an exec plugin that fails at first',
      () => plugin('echo no login yet >&2; exit 1', /the exec plugin \/.*\/plugin failed: no login yet/),
    ],
    ['an exec plugin that prints nothing at first', () => plugin('true', /printed no ExecCredential/)],
    ['an exec plugin that prints {} at first', () => plugin('echo {}', /printed no ExecCredential/)],
    [
      'an exec plugin that has no credential at first',
      () => plugin(`echo '{"status":{}}'`, /printed neither a token nor a certificate/),
    ],
    [
      'an exec plugin that prints a token with a control character at first',
      () =>
        plugin(`echo '{"status":{"token":"stand-in\\u0001token"}}'`, /the token has a character .* header/),
    ],
    [
      'an exec plugin that prints a broken certificate at first',
      () =>
        plugin(
          `echo '{"status":{"clientCertificateData":"-----BEGIN","clientKeyData":"-----BEGIN"}}'`,
          /the client certificate .*is not valid/,
        ),
    ],
    ['an exec plugin that hangs at first', () => plugin('sleep 1000', /did not answer within 500 ms/)],
    [
      'an exec plugin that is not installed',
      () =>
        file({ exec: { command: './plugin' } }, 'plugin', /spawn \/.*\/plugin ENOENT/, {
          complete: `#!/bin/sh\n${CREDENTIAL}\n`,
        }),
    ],
    ['a token file that is missing', () => file(tokenFile, 'token', /ENOENT.*\/token/, { complete })],
    [
      'a token file that is empty',
      () => file(tokenFile, 'token', /token file .*\/token is empty/, { complete, unfinished: '' }),
    ],
    ['a client certificate that is missing', () => file(certificate, 'client.crt', /ENOENT.*client\.crt/)],
    [
      'a client certificate that is unfinished',
      () =>
        file(certificate, 'client.crt', /the client certificate \/.*client\.crt is not valid/, {
          unfinished: half(certificates.client.certificate),
        }),
    ],
    [
      'a client key that belongs to another certificate',
      () =>
        file(certificate, 'client.key', /client\.crt is not valid: .*key values mismatch/, {
          unfinished: certificates.server.key,
        }),
    ],
    ['an authority that is missing', () => file(certificate, 'ca.crt', /ENOENT.*ca\.crt/)],
    [
      'an authority that is unfinished',
      () =>
        file(certificate, 'ca.crt', /ca\.crt contains no certificate in PEM format/, {
          unfinished: half(certificates.authority),
        }),
    ],
    [
      'a service account that is not mounted',
      async () => {
        const root = await mkdtemp(join(tmpdir(), 'service-account-'));
        process.env.KUBERNETES_SERVICE_HOST = '127.0.0.1';
        process.env.KUBERNETES_SERVICE_PORT = new URL(api.url).port;
        return {
          connection: { serviceAccountRoot: root },
          reported: /in-cluster: cannot obtain the credentials \(ENOENT.*\/token/,
          arrive: async () => {
            const mounted = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
            await mkdir(mounted, { recursive: true });
            await writeFile(join(mounted, 'ca.crt'), certificates.authority);
            await writeFile(join(mounted, 'token'), 'stand-in-token\n');
          },
        };
      },
    ],
  ])('%s', async (_, pending) => {
    const { connection, reported, arrive } = await pending();
    api.put(service('web'));
    const { source, sink, logger } = setUp(connection, {}, { plugin: 500 });
    await source.start(sink, new AbortController().signal);
    const failures = (): unknown[] => logger.matching('warn', 'retrying').map(({ facts }) => facts.error);
    await until(() => failures().length > 0);
    expect(failures()[0]).toMatch(reported);
    if (arrive) {
      await until(() => source.status().every(({ failure = '' }) => reported.test(failure)));
      await arrive();
    }
    await until(() => sink.kindsSynced.length === 4);
    expect(sink.names('Service')).toEqual(['Service default/web']);
    expect(source.status().map(({ failure }) => failure)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    await source.stop();
  });

  it('do not hide a plugin behind its name in a kubeconfig that is named relative to the current folder', async () => {
    const kubeconfig = await writeKubeconfig(api, { exec: { command: './plugin' } });
    await writeFile(join(dirname(kubeconfig), 'plugin'), `#!/bin/sh\n${CREDENTIAL}\n`, { mode: 0o755 });
    await list(clientOf({ kubeconfig: relative(process.cwd(), kubeconfig) }));
  });
});

describe('the server', () => {
  it('is not trusted with a certificate of another authority', async () => {
    const kubeconfig = await writeKubeconfig(api);
    await writeFile(join(dirname(kubeconfig), 'ca.crt'), (await makeCertificates()).authority);
    await expect(list(clientOf({ kubeconfig }))).rejects.toMatchObject({ name: 'ApiConnectionError' });
  });

  it('is verified by its tls-server-name', async () => {
    const kubeconfig = await writeKubeconfig(api);
    const named = (name: string) =>
      edited(kubeconfig, ({ clusters }) => (clusters[0]!.cluster['tls-server-name'] = name));
    await named('localhost');
    await list(clientOf({ kubeconfig }));
    await named('elsewhere.example');
    await expect(list(clientOf({ kubeconfig }))).rejects.toThrow(/elsewhere\.example/);
  });

  it('is overridden by the master', async () => {
    const file = await writeKubeconfig(api);
    const kubeconfig = await edited(
      file,
      ({ clusters }) => (clusters[0]!.cluster.server = 'https://192.0.2.1:6443'),
    );
    const client = clientOf({ kubeconfig, master: `${api.url.replace('https://', '')}/` });
    expect((await client.load()).href).toBe(`${api.url}/`);
    await list(client);
  });

  it('is trusted by its authority also without a user', async () => {
    const file = await writeKubeconfig(api);
    const kubeconfig = await edited(file, (config) => {
      delete config.users;
      delete config.contexts[0]!.context.user;
    });
    await expect(list(clientOf({ kubeconfig }))).rejects.toMatchObject({ code: 401 });
  });

  it('may be given without a scheme in the kubeconfig too', async () => {
    const kubeconfig = await edited(
      await writeKubeconfig(api),
      ({ clusters }) => (clusters[0]!.cluster.server = new URL(api.url).host),
    );
    const client = clientOf({ kubeconfig });
    expect((await client.load()).href).toBe(`${api.url}/`);
    await list(client);
  });

  it('is not spoken to in another protocol than HTTP', async () => {
    await expect(clientOf({ master: 'ftp://192.0.2.1' }).load()).rejects.toThrow(
      /--master: the server "ftp:\/\/192\.0\.2\.1" has the scheme "ftp"/,
    );
  });

  it('is not contacted with an authority file without certificates', async () => {
    const kubeconfig = await writeKubeconfig(api);
    const file = join(dirname(kubeconfig), 'ca.crt');
    const broken = certificates.authority.replace(/[A-Za-z0-9+/]{40}/, '');
    for (const text of ['', 'nonsense', certificates.client.key, broken]) {
      await writeFile(file, text);
      await expect(clientOf({ kubeconfig }).access()).rejects.toMatchObject({
        name: 'CredentialsError',
        message: expect.stringContaining(`the certificate authority ${file} contains no certificate`),
      });
    }
    await writeFile(file, `${broken}\n${certificates.authority}`);
    await list(clientOf({ kubeconfig }));
  });

  it('may be plain HTTP, by master alone', async () => {
    expect((await clientOf({ master: 'http://127.0.0.1:8080' }).load()).href).toBe('http://127.0.0.1:8080/');
    expect((await clientOf({ master: '127.0.0.1:8080' }).load()).href).toBe('http://127.0.0.1:8080/');
  });
});

describe('in-cluster', () => {
  const saved = { ...process.env };
  afterEach(() => {
    process.env = { ...saved };
  });

  it('uses the service account, and its token as it is now', async () => {
    const root = await mkdtemp(join(tmpdir(), 'service-account-'));
    const mounted = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
    await mkdir(mounted, { recursive: true });
    await writeFile(join(mounted, 'ca.crt'), certificates.authority);
    await writeFile(join(mounted, 'token'), 'stand-in-token\n');
    process.env.KUBERNETES_SERVICE_HOST = '127.0.0.1';
    process.env.KUBERNETES_SERVICE_PORT = new URL(api.url).port;
    const client = clientOf({ serviceAccountRoot: root });
    await list(client);
    api.tokens = new Set(['rotated']);
    await writeFile(join(mounted, 'token'), 'rotated');
    await list(client);
    api.tokens = new Set(['of-a-flag']);
    await list(clientOf({ serviceAccountRoot: root, overrides: { token: 'of-a-flag' } }));
  });

  it('outside a cluster is an error that says what to give', async () => {
    delete process.env.KUBERNETES_SERVICE_HOST;
    await expect(clientOf({}).load()).rejects.toThrow(
      /in-cluster: KUBERNETES_SERVICE_HOST.*set --kubeconfig or --master/,
    );
  });
});

function kubeconfigOf(cluster: string, user = ''): string {
  return [
    'current-context: a',
    'contexts: [{name: a, context: {cluster: c, user: u}}]',
    `clusters: [{name: c, cluster: {${cluster}}}]`,
    `users: [{name: u, user: {${user}}}]`,
  ].join('\n');
}

describe('a kubeconfig that cannot be used', () => {
  it('rejects the start of a source, naming the file', async () => {
    const { source, sink } = setUp({ kubeconfig: '/nonexistent/kubeconfig' });
    await expect(source.start(sink, new AbortController().signal)).rejects.toMatchObject({
      name: 'KubeconfigError',
      file: '/nonexistent/kubeconfig',
      message: expect.stringMatching(/cannot read the kubeconfig \(ENOENT\); check --kubeconfig/),
    });
    await source.stop();
  });

  it.each([
    ['no YAML', 'clusters: [', /not a valid kubeconfig/],
    ['no object', 'hello', /current-context is not set/],
    ['empty', '', /not a valid kubeconfig/],
    [
      'a cluster without server',
      'clusters: [{name: a, cluster: {}}]',
      /clusters\[0\]\.cluster\.server is missing/,
    ],
    [
      'an unknown context',
      'current-context: b\ncontexts: [{name: a, context: {cluster: c}}]',
      /current-context is "b", which is not in contexts; set it to one of: a/,
    ],
    [
      'an unknown cluster',
      'current-context: a\ncontexts: [{name: a, context: {cluster: c}}]',
      /context "a" names the cluster "c", which is not in clusters/,
    ],
    [
      'an unknown user',
      'current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "https://h"}}]',
      /context "a" names the user "u", which is not in users/,
    ],
    [
      'no URL as server',
      'current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: "::"}}]',
      /the server "::" is not a URL/,
    ],
    [
      'a server that is spoken to in another protocol',
      kubeconfigOf('server: "ftp://h"'),
      /the server "ftp:\/\/h" has the scheme "ftp"; it must be one of http, https; correct clusters\[\]\.cluster\.server/,
    ],
    [
      'a proxy that is spoken to in another protocol',
      kubeconfigOf('server: "https://h", proxy-url: "ftp://p"'),
      /the proxy "ftp:\/\/p" has the scheme "ftp".*clusters\[\]\.cluster\.proxy-url/,
    ],
    [
      'an authority that is no PEM',
      kubeconfigOf('server: "https://h", certificate-authority-data: bm9uc2Vuc2U='),
      /unable to parse bytes as PEM block.*certificate-authority-data must hold certificates/,
    ],
    [
      'an authority that need not be trusted',
      kubeconfigOf('server: "https://h", certificate-authority: ca.crt, insecure-skip-tls-verify: true'),
      /cluster "c": specifying a root certificates file with the insecure flag is not allowed/,
    ],
    [
      'an auth-provider',
      kubeconfigOf('server: "https://h"', 'auth-provider: {name: gcp}'),
      /user "u" has an auth-provider, and there is no Auth Provider for name "gcp"; use token/,
    ],
  ])('%s', async (_, text, expected) => {
    const directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, text);
    const failure = clientOf({ kubeconfig }).load();
    await expect(failure).rejects.toThrow(expected);
    await expect(failure).rejects.toMatchObject({ name: 'KubeconfigError', file: kubeconfig });
    await rm(directory, { recursive: true });
  });
});
