import { UsageError } from '../../../src/adapters/cli/usage-error.js';
import { failure, parse } from './support.js';

const usageError = (...argv: readonly string[]) => failure(UsageError, () => parse(argv)).message;
const access = {
  namespace: 'kube-system',
  selector: 'k8s-app in (kube-proxy, kube-proxy-ts)',
  parallel: 20,
};

describe('cluster', () => {
  it('finds the proxies where DaemonSets usually are', () => {
    expect(parse(['cluster', 'status']).request).toEqual({
      name: 'cluster',
      question: { kind: 'status' },
      access,
      output: 'text',
    });
  });

  it('takes options before and after the question', () => {
    const options = ['-n', 'net', '-l', 'app=proxy', '--context=prod', '--parallel', '5', '-o', 'json'];
    const asked = {
      name: 'cluster',
      question: { kind: 'explain', service: 'shop/cart' },
      access: { namespace: 'net', selector: 'app=proxy', context: 'prod', parallel: 5 },
      output: 'json',
    };
    expect(parse(['cluster', ...options, 'explain', 'shop/cart']).request).toEqual(asked);
    expect(parse(['cluster', 'explain', 'shop/cart', ...options]).request).toEqual(asked);
  });

  it.each([[[]], [['nodes']], [['status', 'now']], [['explain']], [['explain', 'cart']], [['top', 'a/b']]])(
    'does not take %j',
    (operands) => {
      expect(usageError('cluster', ...operands)).toMatch(
        /^cluster takes status, services \[NAME\.\.\.\], explain NAMESPACE\/NAME, trace,/,
      );
    },
  );

  const question = (...argv: readonly string[]): unknown => {
    const { request } = parse(['cluster', ...argv]);
    return request.name === 'cluster' ? request.question : request;
  };

  it('takes what the commands of one node take', () => {
    const filter = { names: [], failing: false, withoutEndpoints: false };
    expect(question('services')).toEqual({ kind: 'services', filter });
    expect(
      question('services', 'shop/cart', '--failing', '--without-endpoints', '--service-namespace=shop'),
    ).toEqual({
      kind: 'services',
      filter: { namespace: 'shop', names: ['shop/cart'], failing: true, withoutEndpoints: true },
    });
    expect(question('trace', '--from', 'node', '--to', '10.96.0.1:80', '--kernel')).toMatchObject({
      kind: 'trace',
      query: { from: { kind: 'node' }, port: 80 },
      rules: 'actual',
    });
    expect(question('diff', 'shop/cart')).toEqual({ kind: 'diff', service: 'shop/cart' });
    expect(question('history')).toEqual({ kind: 'history' });
    expect(question('dump', '--to', 'bundle')).toEqual({ kind: 'dump', to: 'bundle' });
    expect(question('validate', 'a', 'b')).toEqual({ name: 'validate', paths: ['a', 'b'] });
  });

  it.each([
    [['status', '--failing'], 'cluster status does not take --failing'],
    [['services', '--from', 'node'], 'cluster services does not take --from'],
    [['services', '../x'], 'services takes names as NAME or NAMESPACE/NAME, got "../x"'],
    [['trace', '--to', '10.96.0.1:80'], 'trace takes --from SOURCE and --to'],
    [['diff', 'cart'], 'diff takes at most one Service'],
    [['dump'], 'cluster dump takes --to FOLDER'],
    [['validate'], 'validate takes the files and folders to check'],
  ])('says what is wrong with %j', (argv, message) => {
    expect(usageError('cluster', ...argv)).toContain(message);
  });

  it.each(['0', '-1', 'many', '10000'])('does not ask %s at a time', (number) => {
    expect(usageError('cluster', 'status', `--parallel=${number}`)).toMatch(/whole number from 1 to 9999/);
  });
});

describe('diff', () => {
  it('takes one Service, or none', () => {
    expect(parse(['diff']).request).toEqual({ name: 'diff', output: 'text' });
    expect(parse(['diff', 'shop/cart', '-o', 'yaml']).request).toEqual({
      name: 'diff',
      service: 'shop/cart',
      output: 'yaml',
    });
    for (const operands of [['cart'], ['a/b', 'c/d'], ['../x']])
      expect(usageError('diff', ...operands)).toMatch(/^diff takes at most one Service/);
  });

  it('is a way to plan, too', () => {
    expect(parse(['plan', '--diff', '--family', 'ipv6']).request).toEqual({
      name: 'plan',
      diff: true,
      family: 'IPv6',
    });
  });
});
