import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TraceAnswer } from '../../../src/diagnostics/application/trace/answer.js';
import { CannotTraceError } from '../../../src/diagnostics/application/trace/trace-packets.js';
import { QueryError } from '../../../src/diagnostics/adapters/cli/running-proxy.js';
import { QueriesError, trace } from '../../../src/diagnostics/adapters/cli/commands/trace.js';
import { traceManifests } from '../../../src/diagnostics/bootstrap/without-proxy.js';
import { usePrinted } from '../../support/program/use-printed.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import { ClusterRole } from '../../support/api-server/cluster-role.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import { Served } from '../../support/http/served.js';
import { parseCommand } from '../../support/command-line.js';

const scenario = fileURLToPath(new URL('../../conformance/scenarios/session-affinity', import.meta.url));
const manifests = ['--manifests', `${scenario}/objects-1.yaml`, '--hostname-override', 'node1'];
const cluster = ['--proxy-mode', 'nftables', '--cluster-cidr', '10.244.0.0/16'];

let folder: string;
const printed = usePrinted();
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeproxy-trace-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

/** Runs the command over the manifests, and returns its exit code. */
function run(...args: readonly string[]): Promise<number> {
  const asked = parseCommand(['trace', ...args], {
    readFile: () => '',
    hostname: () => 'unused',
  });
  return asked.manifests.length > 0 ? traceManifests(asked, new MemoryLogger()) : trace(asked);
}

describe('kubeproxy trace --manifests', () => {
  it('answers a query in JSON, on one line', async () => {
    const query = ['--from', '10.244.1.200', '--to', '172.30.10.10:80', '-o', 'json'];
    expect(await run(...query, ...manifests, ...cluster)).toBe(0);
    expect(printed.stdout).toMatch(/^\{.*\}\n$/);
    const answer = JSON.parse(printed.stdout) as TraceAnswer;
    expect(answer).toMatchObject({ outcome: 'forward', sourceRewrite: 'never', sticky: true });
    expect(answer.endpoints.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1);
    expect(answer.remarks).toContainEqual(expect.stringMatching(/^this machine is not the node/));
  });

  it('answers a query in words', async () => {
    expect(await run('--from', 'outside', '--to', '172.30.10.10:80', ...manifests, ...cluster)).toBe(0);
    expect(printed.stdout).toMatch(
      /^203\.0\.113\.77 → 172\.30\.10\.10:80\/TCP, coming in through \(outside\)/,
    );
    expect(printed.stdout).toContain('\noutcome: forward\n');
    expect(printed.stdout).toContain('\nsource: rewritten to an address of this node\n');
  });

  it('answers many queries in their order, and ends with 1 if some cannot be answered', async () => {
    const lines = [
      '{"from":"node","to":"172.30.10.10:80"}',
      '',
      'nonsense',
      '{"from":"node","to":"172.30.10.10:81"}',
    ];
    await writeFile(join(folder, 'queries'), lines.join('\n'));
    expect(await run('--queries', join(folder, 'queries'), ...manifests, ...cluster)).toBe(1);
    const answers = printed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(answers).toEqual([
      expect.objectContaining({ outcome: 'forward' }),
      { error: expect.stringContaining('a query is a JSON object') as string },
      expect.objectContaining({ outcome: 'reject' }),
    ]);
  });

  it('ends with 0 if all queries are answered', async () => {
    await writeFile(join(folder, 'queries'), '{"from":"node","to":"172.30.10.10:80"}\n');
    expect(await run('--queries', join(folder, 'queries'), ...manifests, ...cluster)).toBe(0);
  });

  it.each([
    ['/none', /^cannot read the queries in \/none: ENOENT/],
    ['/', /^cannot read the queries in \/: EISDIR/],
    ['/dev/zero', 'cannot read the queries in /dev/zero: a line has more than 65536 characters'],
  ])('says that it cannot read the queries in %s', async (path, message) => {
    const reading = run('--queries', path, ...manifests, ...cluster);
    await expect(reading).rejects.toThrow(QueriesError);
    await expect(reading).rejects.toThrow(message);
  });
});

describe('kubeproxy trace', () => {
  it('answers in JSON also what cannot be answered', async () => {
    const served = await Served.start({
      '/debug/trace': (_, response) => void response.writeHead(500).end('{"error":"no route"}'),
    });
    try {
      const query = ['--from', 'node', '--to', '10.96.0.1:80', '--metrics-bind-address', served.address];
      expect(await run(...query, '-o', 'json')).toBe(1);
      expect(JSON.parse(printed.stdout)).toEqual({ error: 'no route' });
      await expect(run(...query)).rejects.toThrow(CannotTraceError);
    } finally {
      await served.stop();
    }
  });

  it('needs a proxy that answers', async () => {
    const nobody = ['--metrics-bind-address', '127.0.0.1:1'];
    await expect(run('--from', 'node', '--to', '10.96.0.1:80', ...nobody)).rejects.toThrow(QueryError);
    await writeFile(join(folder, 'queries'), '{"from":"node","to":"10.96.0.1:80"}\n');
    await expect(run('--queries', join(folder, 'queries'), ...nobody)).rejects.toThrow(QueryError);
  });
});

describe('kubeproxy trace --from pod/NAME', () => {
  let api: StandInApiServer;
  let served: Served;
  let asked: URLSearchParams[];
  beforeEach(async () => {
    api = await StandInApiServer.start();
    api.clusterRole = undefined;
    asked = [];
    const ports = (address: string, family: string) => ({
      ...{ family, pending: false, sync: { failures: 0, drift: { repairs: 0, writtenSteps: 0 } } },
      ports: [
        {
          ...{ portName: 'http', protocol: 'TCP', status: { state: 'pending' }, endpoints: [], verdicts: [] },
          frontends: [
            {
              kind: 'cluster-ip',
              address,
              port: 80,
              policy: 'Cluster',
              outcome: 'forward',
              state: 'ok',
              reason: '',
            },
          ],
          ...{ affinitySeconds: 0, sourceRanges: [] },
        },
      ],
    });
    const web = { service: 'shop/web', known: true, verdict: { state: 'ok', reason: '' }, objects: [] };
    served = await Served.start({
      '/debug/trace': ({ parameters }, response) => {
        asked.push(parameters);
        // No pod is an endpoint.
        const isNamed = parameters.get('from')!.startsWith('pod/');
        response.end(JSON.stringify({ error: 'enough', ...(isNamed && { cause: 'UnknownPod' }) }));
      },
      '/debug/explain': (_, response) =>
        void response.end(
          JSON.stringify({ ...web, families: [ports('10.96.0.1', 'IPv4'), ports('fd00:96::1', 'IPv6')] }),
        ),
    });
  });
  afterEach(async () => {
    await served.stop();
    await api.close();
  });

  const put = (namespace: string, name: string, ips: readonly string[], phase = 'Running'): void => {
    api.put({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } },
      status: { phase, podIPs: ips.map((ip) => ({ ip })) },
    });
  };
  const reachable = async (): Promise<readonly string[]> => [
    ...['--metrics-bind-address', served.address, '--kubeconfig', await writeKubeconfig(api)],
  ];
  /** The last query of the proxy. */
  const questionOf = async (...args: readonly string[]): Promise<string> => {
    await expect(run(...args, ...(await reachable()))).rejects.toThrow('enough');
    return `${asked.at(-1)!.get('from')} → ${asked.at(-1)!.get('to')}`;
  };

  it.each([
    ['pod/cart-0', '10.96.0.1:80', '10.244.1.5 → 10.96.0.1:80/TCP'],
    ['pod/shop/cart-0', '[fd00:96::1]:53/udp', 'fd00:244::5 → [fd00:96::1]:53/UDP'],
    ['pod/cart-0', 'shop/web', '10.244.1.5 → 10.96.0.1:80/TCP'],
    ['pod/six', 'shop/web', 'fd00:244::6 → [fd00:96::1]:80/TCP'],
  ])('from %s to %s asks for the right address', async (from, to, question) => {
    put('shop', 'cart-0', ['10.244.1.5', 'fd00:244::5']);
    put('shop', 'cart-1', ['10.244.1.9']);
    put('shop', 'six', ['fd00:244::6']);
    expect(await questionOf('--from', from, '--to', to)).toBe(question);
  });

  it('takes the one of the namespace', async () => {
    put('shop', 'cart-0', ['10.244.1.5']);
    put('test', 'cart-0', ['10.244.1.6']);
    const query = ['--from', 'pod/cart-0', '--to', '10.96.0.1:80'];
    expect(await questionOf(...query, '-n', 'test')).toBe('10.244.1.6 → 10.96.0.1:80/TCP');
    const kubeconfig = await reachable();
    await expect(run(...query, ...kubeconfig)).rejects.toThrow(
      'shop/cart-0 and test/cart-0 are called cart-0',
    );
    await expect(run(...query, ...kubeconfig, '-n', 'none')).rejects.toThrow('there is no pod none/cart-0');
  });

  it('follows its packets through rules of manifests, too', async () => {
    put('default', 'client', ['10.244.1.200']);
    const query = ['--from', 'pod/client', '--to', '172.30.10.10:80', '-o', 'json'];
    const kubeconfig = await reachable();
    expect(await run(...query, ...kubeconfig, ...manifests, ...cluster)).toBe(0);
    expect(JSON.parse(printed.stdout)).toMatchObject({
      outcome: 'forward',
      packet: { source: '10.244.1.200' },
    });
  });

  it('says in JSON that there is no such pod', async () => {
    const kubeconfig = await reachable();
    const query = ['--from', 'pod/none', '--to', '10.96.0.1:80', '-o', 'json'];
    expect(await run(...query, ...kubeconfig)).toBe(1);
    expect(JSON.parse(printed.stdout)).toEqual({ error: 'there is no pod none' });
  });

  it('needs an API server that answers', async () => {
    const kubeconfig = await reachable();
    // That of node proxies allows no pods.
    api.clusterRole = new ClusterRole();
    const query = ['--from', 'pod/cart-0', '--to', '10.96.0.1:80', ...kubeconfig];
    await expect(run(...query)).rejects.toThrow(QueryError);
    await api.close();
    await expect(run(...query)).rejects.toThrow(
      /^cannot look up pod cart-0; use its address instead: .*ECONNREFUSED/,
    );
  });
});
