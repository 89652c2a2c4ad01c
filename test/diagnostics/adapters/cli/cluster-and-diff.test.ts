import type { RequestFor } from '../../../../src/diagnostics/adapters/cli/subcommands.js';
import { UsageError } from '../../../../src/adapters/cli/usage-error.js';
import { failure, parse, parsePlugin } from '../../../bootstrap/configuration/support.js';

const usageError = (...argv: readonly string[]) => failure(UsageError, () => parse(argv)).message;
const pluginError = (...argv: readonly string[]) => failure(UsageError, () => parsePlugin(argv)).message;
const access = {
  proxyNamespace: 'kube-system',
  selector:
    'k8s-app in (kube-proxy, kube-proxy-ts, kube-proxy-ts-iptables, kube-proxy-ts-ipvs, kube-proxy-ts-nftables)',
  parallel: 20,
};

describe('the plugin for kubectl', () => {
  it('finds the proxies where DaemonSets usually are', () => {
    expect(parsePlugin(['status']).request).toEqual({
      name: 'cluster',
      query: { kind: 'status', words: ['status', '-o', 'json'], services: [] },
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
        words: ['explain'],
        services: [{ service: 'shop/cart' }],
      },
      access: { proxyNamespace: 'net', selector: 'app=proxy', context: 'prod', parallel: 5 },
      output: 'json',
    };
    expect(parsePlugin([...options, 'explain', 'shop/cart']).request).toEqual(asked);
    expect(parsePlugin(['explain', 'shop/cart', ...options]).request).toEqual(asked);
  });

  it.each([
    [[], 'a command is missing: status, services, explain, trace, diff, history, top, dump, compare'],
    [['nodes'], 'unknown command "nodes"'],
    [['staus'], 'unknown command "staus"; did you mean status?'],
    [['status', 'now'], '"kubeproxy status" does not take any arguments, got [now]'],
    [['explain'], 'explain takes Services, got none'],
    [['trace', '--from', 'node'], 'trace takes --from SOURCE and --to ADDRESS:PORT[/PROTOCOL] or a Service'],
    [
      ['explain', '10.96.0.1'],
      'explain of all nodes takes Services, got 10.96.0.1; kubeproxy explain on a node takes addresses',
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
    expect(parsePlugin(['explain', 'cart:http', 'a/web', '-n', 'shop']).request).toMatchObject({
      query: { services: [{ service: 'shop/cart', port: 'http' }, { service: 'a/web' }] },
    });
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
    [['compare', '--timeout', '0'], 'whole number from 1 to 9999'],
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
    [['services', '--watch'], 'unknown flag: --watch'],
  ])('says what is wrong with %j', (argv, message) => {
    expect(pluginError(...argv)).toContain(message);
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
