import { jsonPatch } from './json-patch.js';
import { AppliedConfigurations } from './server-side-apply.js';
import { strategicMerge } from './strategic-merge.js';

const container = (name: string, image: string): object => ({ name, image });

describe('a strategic merge patch', () => {
  it('merges lists by their keys, in the order that is asked for', () => {
    const live = { spec: { containers: [container('a', '1'), container('b', '1')], args: ['x'] } };
    const patch = {
      spec: {
        containers: [container('b', '2')],
        '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }],
        args: ['y'],
      },
    };
    expect(strategicMerge(live, patch)).toEqual({
      spec: { containers: [container('b', '2'), container('a', '1')], args: ['y'] },
    });
  });

  it('replaces, retains and deletes where it says so', () => {
    expect(strategicMerge({ a: { b: 1, c: 2 } }, { a: { c: 3, $patch: 'replace' } })).toEqual({
      a: { c: 3 },
    });
    expect(strategicMerge({ type: 'x', old: 1 }, { type: 'y', $retainKeys: ['type'] })).toEqual({
      type: 'y',
    });
    const live = { env: [{ name: 'A' }, { name: 'B' }], finalizers: ['f', 'g'] };
    expect(
      strategicMerge(live, {
        env: [{ name: 'A', $patch: 'delete' }],
        '$deleteFromPrimitiveList/finalizers': ['g'],
      }),
    ).toEqual({ env: [{ name: 'B' }], finalizers: ['f'] });
  });
});

describe('applying on the server', () => {
  it('removes what a manager no longer sets, and leaves what others set', () => {
    const applied = new AppliedConfigurations();
    const first = { metadata: { labels: { a: '1', b: '1' } }, spec: { containers: [container('p', '1')] } };
    const one = applied.apply({ status: 1 }, first, 'helm', 'object');
    expect(one).toEqual({ status: 1, ...first });
    const two = applied.apply(one, { metadata: { labels: { b: '1', c: '1' } } }, 'kubectl', 'object');
    const third = { metadata: { labels: { a: '2' } }, spec: { containers: [container('q', '2')] } };
    expect(applied.apply(two, third, 'helm', 'object')).toEqual({
      status: 1,
      metadata: { labels: { a: '2', b: '1', c: '1' } },
      spec: { containers: [container('q', '2')] },
    });
  });

  it('changes one field of one container, and nothing else', () => {
    const live = {
      spec: { containers: [{ ...container('p', '1'), command: ['x'] }], nodeSelector: { os: 'linux' } },
    };
    const after = new AppliedConfigurations().apply(
      live,
      { spec: { containers: [container('p', '2')] } },
      'kubectl',
      'o',
    );
    expect(after).toEqual({
      spec: { containers: [{ ...container('p', '2'), command: ['x'] }], nodeSelector: { os: 'linux' } },
    });
  });
});

it('a JSON patch adds, replaces, removes and tests, and refuses what does not fit', () => {
  const live = { a: { 'x/y': 1 }, list: [1, 2] };
  expect(
    jsonPatch(live, [
      { op: 'test', path: '/a/x~1y', value: 1 },
      { op: 'replace', path: '/a/x~1y', value: 2 },
      { op: 'add', path: '/list/-', value: 3 },
      { op: 'remove', path: '/list/0' },
    ]),
  ).toEqual({ a: { 'x/y': 2 }, list: [2, 3] });
  expect(() => jsonPatch(live, [{ op: 'replace', path: '/b', value: 1 }])).toThrow('missing path: /b');
  expect(() => jsonPatch(live, [{ op: 'test', path: '/list', value: [] }])).toThrow(
    'testing value /list failed',
  );
  expect(live).toEqual({ a: { 'x/y': 1 }, list: [1, 2] });
});
