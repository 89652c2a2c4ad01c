import { queryNodes } from '../../../../src/diagnostics/application/cluster/query-nodes.js';
import { NoAnswerError, type NodeProxy } from '../../../../src/diagnostics/application/ports/node-proxies.js';
import { fields, number } from '../../../../src/domain/shape.js';

const question = {
  words: ['status'],
  timeout: 1_000,
  largest: 1_000,
  shape: fields({ lag: number }),
  keep: ({ lag }: { readonly lag: number }, node: string) => `${node}: ${lag}`,
};

function proxy(node: string, query: () => Promise<string>): NodeProxy {
  return { node, query };
}

it('sorts answers and unreachable nodes by name, with what is kept, or why they are unreachable', async () => {
  const proxies = [
    proxy('node-10', () => Promise.resolve('{"lag":10}')),
    proxy('node-3', () => Promise.resolve('<html>')),
    proxy('node-2', () => Promise.resolve('{"lag":2}')),
    proxy('node-1', () => Promise.reject(new NoAnswerError('timeout', 'no answer in time'))),
  ];
  expect(await queryNodes(proxies, question, 2)).toEqual({
    answers: [
      { node: 'node-2', answer: 'node-2: 2' },
      { node: 'node-10', answer: 'node-10: 10' },
    ],
    unreachable: [
      { node: 'node-1', cause: 'timeout', reason: 'no answer in time' },
      { node: 'node-3', cause: 'bad-answer', reason: 'its answer is not that of a proxy: it is not JSON' },
    ],
  });
});

it('asks so many at a time, and hides no error of this program', async () => {
  let [now, most] = [0, 0];
  const slow = async (): Promise<string> => {
    most = Math.max(most, ++now);
    await new Promise(setImmediate);
    now--;
    return '{"lag":0}';
  };
  const proxies = ['a', 'b', 'c', 'd', 'e'].map((node) => proxy(node, slow));
  expect((await queryNodes(proxies, question, 3)).answers).toHaveLength(5);
  expect(most).toBe(3);
  const broken = proxy('f', () => Promise.reject(new TypeError('broken')));
  await expect(queryNodes([broken], question, 1)).rejects.toThrow(TypeError);
});
