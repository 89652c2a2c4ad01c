import { UsageError } from '../../../src/bootstrap/configuration/errors.js';
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
        /^cluster takes status, explain NAMESPACE\/NAME or top/,
      );
    },
  );

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
