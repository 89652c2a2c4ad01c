import type { RequestFor } from '../../../../src/diagnostics/adapters/cli/subcommands.js';
import { UsageError } from '../../../../src/adapters/cli/usage-error.js';
import { EarlyExit } from '../../../../src/bootstrap/configuration/errors.js';
import { failure, parse, parsePlugin } from '../../../bootstrap/configuration/support.js';

const usageError = (...argv: readonly string[]) => failure(UsageError, () => parse(argv)).message;
const pluginError = (...argv: readonly string[]) => failure(UsageError, () => parsePlugin(argv)).message;
const access = {
  proxyNamespace: 'kube-system',
  selector:
    'k8s-app in (kube-proxy, kube-proxy-ts, kube-proxy-ts-iptables, kube-proxy-ts-ipvs, kube-proxy-ts-nftables)',
  parallel: 20,
  nodes: [],
  api: { overrides: {} },
};

describe('the plugin for kubectl', () => {
  it('finds the proxies where DaemonSets usually are', () => {
    expect(parsePlugin(['status']).request).toEqual({
      name: 'cluster',
      query: { kind: 'status', words: ['status', '-o', 'json'] },
      access,
      output: 'text',
    });
  });

  it('takes options before and after the question', () => {
    const options = [
      '--proxy-namespace',
      'net',
      '-l',
      'app=proxy',
      '--context=prod',
      '--parallel',
      '5',
      '-o',
      'json',
    ];
    const asked = {
      name: 'cluster',
      query: {
        kind: 'explain',
        words: ['explain', 'shop/cart', '-o', 'json'],
      },
      access: {
        ...access,
        ...{ proxyNamespace: 'net', selector: 'app=proxy', parallel: 5 },
        api: { context: 'prod', overrides: {} },
      },
      output: 'json',
    };
    expect(parsePlugin([...options, 'explain', 'shop/cart']).request).toEqual(asked);
    expect(parsePlugin(['explain', 'shop/cart', ...options]).request).toEqual(asked);
  });

  it.each([
    [
      [],
      'a command is missing: status, services, explain, trace, diff, history, top, drain-status, dump, compare, version',
    ],
    [['nodes'], 'unknown command "nodes"'],
    [['staus'], 'unknown command "staus"; did you mean status?'],
    [['status', 'now'], '"kubeproxy status" does not take any arguments, got [now]'],
    [['explain'], 'explain takes a Service, an address, or a port, got none'],
    [
      ['trace', '--from', 'node'],
      'trace takes --from SOURCE and --to ADDRESS:PORT[/PROTOCOL] or a Service, or --queries FILE',
    ],
  ])('does not take %j', (operands, message) => {
    expect(pluginError(...operands)).toBe(message);
  });

  const asked = (...argv: readonly string[]): unknown => {
    const request = parsePlugin([...argv]).request as RequestFor<'cluster'>;
    return request.name === 'cluster' ? request.query.words.join(' ') : request;
  };

  it('takes what the commands of one node take, and asks each node by them', () => {
    expect(asked('services')).toBe('services -o json');
    expect(asked('services', 'shop/cart', '--problems', '--namespace=shop')).toBe(
      'services shop/cart --namespace shop --problems -o json',
    );
    expect(asked('trace', '--from', 'node', '--to', '10.96.0.1:80', '--kernel')).toBe(
      'trace --from node --to 10.96.0.1:80 --kernel -o json',
    );
    expect(asked('diff', 'shop/cart')).toBe('diff shop/cart -o json');
    expect(asked('history')).toBe('history -o json');
    expect(asked('explain', 'cart:http', 'a/web', '-n', 'shop')).toBe(
      'explain cart:http a/web --namespace shop -o json',
    );
    expect(asked('explain', '10.96.0.10:53/udp')).toBe('explain 10.96.0.10:53/udp -o json');
    expect(asked('explain', 'svc/web', '-n', 'shop', '--probe')).toBe(
      'explain svc/web --probe --namespace shop -o json',
    );
    expect(asked('services', '-A', '-w', '-o', 'wide')).toBe('services --all-namespaces -o json');
    expect(asked('version')).toBe('status -o json');
    expect(asked('top')).toBe('top --once -o json');
    expect(asked('top', 'shop/cart', '--sort', 'new')).toBe('top shop/cart --sort new --once -o json');
    expect(parsePlugin(['dump', 'bundle.tar.gz']).request).toMatchObject({
      query: { file: 'bundle.tar.gz' },
    });
  });

  it.each([
    [['status', '--problems'], 'unknown flag: --problems'],
    [['services', '--from', 'node'], 'unknown flag: --from'],
    [['diff', '--plan'], 'unknown flag: --plan'],
    [['compare', '--expect', 'nothing'], 'there is no known difference "nothing"'],
    [['compare', '--request-timeout', 'long'], '--request-timeout takes a duration such as 30s, got "long"'],
    [
      ['services', '../x'],
      'services takes names as NAME or NAMESPACE/NAME, with :PORT for one port, got "../x"',
    ],
    [['trace', '--to', '10.96.0.1:80'], 'trace takes --from SOURCE and --to'],
    [['diff', 'Cart'], 'diff takes names as NAME'],
    [['dump', '--to', 'bundle'], 'unknown flag: --to'],
    [['dump', 'a', 'b'], 'dump takes one file, got 2'],
    [['dump', ''], 'dump got an empty file name'],
    [['explain', 'shop/cart', '-o', 'name'], '-o name is for status, services, history, not for explain'],
    [['validate', 'a'], 'unknown command "validate"'],
    [['compare', '--watch'], 'unknown flag: --watch'],
  ])('says what is wrong with %j', (argv, message) => {
    expect(pluginError(...argv)).toContain(message);
  });

  it('takes nodes as they are printed, and connections as kubectl does', () => {
    const { request } = parsePlugin([
      ...['status', '--node', 'node/n1', '--node=n2,n3', '--request-timeout', '30s'],
      ...['-s', 'https://192.0.2.1', '--cluster', 'c', '--user', 'u', '--token', 't'],
      ...['--as', 'me', '--as-group', 'a', '--as-group', 'b', '--insecure-skip-tls-verify'],
    ]);
    expect(request).toMatchObject({
      access: {
        nodes: ['n1', 'n2', 'n3'],
        timeout: 30_000,
        api: {
          server: 'https://192.0.2.1',
          overrides: {
            ...{ cluster: 'c', user: 'u', token: 't', as: 'me', asGroup: ['a', 'b'] },
            insecureSkipTlsVerify: true,
          },
        },
      },
    });
  });

  it('has help, and lists the flags of kubectl in it', () => {
    const help = failure(EarlyExit, () => parsePlugin(['help'])).output;
    expect(help).toMatch(/^Usage: kubectl kubeproxy COMMAND/);
    for (const flag of ['kubeconfig', 'context', 'cluster', 'user', 'server', 'token', 'as', 'as-group'])
      expect(help).toMatch(new RegExp(`--${flag}[,\\s]`));
    const explain = failure(EarlyExit, () => parsePlugin(['help', 'explain'])).output;
    expect(explain).toMatch(/^Usage: kubectl kubeproxy explain NAME/);
    expect(explain).toBe(failure(EarlyExit, () => parsePlugin(['explain', '--help'])).output);
    expect(pluginError('help', 'nodes')).toBe('unknown command "nodes"');
  });

  it('is no command of the program', () => {
    expect(usageError('cluster', 'status')).toContain('unknown command "cluster"');
  });

  it.each(['0', '-1', 'many', '10000'])('does not ask %s at a time', (number) => {
    expect(pluginError('status', `--parallel=${number}`)).toMatch(/whole number from 1 to 9999/);
  });
});

describe('diff', () => {
  it('takes Services, or none', () => {
    expect(parse(['diff']).request).toEqual({ name: 'diff', isPlanned: false, services: [], output: 'text' });
    expect(parse(['diff', 'shop/cart', '-o', 'yaml']).request).toEqual({
      name: 'diff',
      isPlanned: false,
      services: [{ service: 'shop/cart' }],
      output: 'yaml',
    });
    expect(usageError('diff', '../x')).toMatch(/^diff takes names as NAME or NAMESPACE\/NAME/);
    expect(usageError('diff', '-n', 'shop')).toBe('diff takes -n for the names that follow it, and got none');
  });

  it('takes a planned side', () => {
    expect(parse(['diff', '--plan', 'web']).request).toMatchObject({ isPlanned: true });
    expect(parse(['diff', '--manifests', 'x', 'web'])).toMatchObject({ manifests: ['x'] });
    expect(usageError('plan', '--diff')).toBe('unknown flag: --diff');
  });
});
