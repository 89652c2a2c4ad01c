import fc from 'fast-check';
import { comparePlaces, endpointPlace, sortedOnce, type Endpoint } from '../../src/domain/model/endpoint.js';
import {
  ejectedOf,
  weightlessOf,
  selectEndpoints,
  type NodeTopology,
  type PolicyNeeds,
} from '../../src/domain/select-endpoints.js';
import { endpoint } from '../support/samples.js';

const NODE: NodeTopology = { nodeName: 'n1', zone: 'a', nodeHints: true };
const CLUSTER = { usesClusterEndpoints: true, usesLocalEndpoints: false };
const LOCAL = { usesClusterEndpoints: false, usesLocalEndpoints: true };
const BOTH = { usesClusterEndpoints: true, usesLocalEndpoints: true };

/** `R` ready, `T` serving and terminating, `-` neither; `L` local; then zone hints; then node hints: `RL;a,b;n1`. */
function parse(text: string, index: number): Endpoint {
  const [flags = '', zones = '', nodes = ''] = text.split(';');
  const list = (names: string) => names.split(',').filter((name) => name !== '');
  return endpoint(`10.0.0.${index + 1}`, {
    ready: flags.includes('R'),
    serving: flags.includes('R') || flags.includes('T'),
    terminating: flags.includes('T'),
    isLocal: flags.includes('L'),
    zoneHints: list(zones),
    nodeHints: list(nodes),
  });
}

function select(endpoints: readonly string[], needs: PolicyNeeds, node: Partial<NodeTopology> = {}) {
  const names = (list: readonly Endpoint[] | undefined) =>
    list?.map(({ address }) => `e${address.split('.')[3]}`).join(' ');
  const { cluster, local, reachable, hasAny } = selectEndpoints(endpoints.map(parse), needs, {
    ...NODE,
    ...node,
  });
  return [names(cluster), names(local), names(reachable), hasAny];
}

describe('the worked examples (docs/internals/spec/model.md §4.5)', () => {
  it.each<[string, string[], PolicyNeeds, unknown[]]>([
    ['plain', ['R', 'RL', '-'], CLUSTER, ['e1 e2', undefined, 'e1 e2', true]],
    ['zone', ['R;a', 'R;b', 'R;a,b', '-;b'], CLUSTER, ['e1 e3', undefined, 'e1 e3', true]],
    ['zone off', ['R;a', 'R'], CLUSTER, ['e1 e2', undefined, 'e1 e2', true]],
    ['node', ['R;a;n1', 'R;a;n2'], CLUSTER, ['e1', undefined, 'e1', true]],
    ['node→zone', ['R;a;n2', 'R;b;n3'], CLUSTER, ['e1', undefined, 'e1', true]],
    ['drain', ['TL', 'T'], CLUSTER, ['e1 e2', undefined, 'e1 e2', true]],
    ['eTP Local', ['R', 'TL'], BOTH, ['e1', 'e2', 'e1 e2', true]],
    ['eTP Local + zone', ['R;a', 'RL;b'], BOTH, ['e1', 'e2', 'e1 e2', true]],
    ['iTP Local', ['R'], LOCAL, [undefined, '', '', true]],
    ['iTP Local exposed', ['R', 'RL'], BOTH, ['e1 e2', 'e2', 'e1 e2', true]],
    ['dead', ['-'], CLUSTER, ['', undefined, '', false]],
  ])('%s', (_, endpoints, needs, expected) => {
    expect(select(endpoints, needs)).toEqual(expected);
  });
});

it('keeps apart the endpoints of weight 0 that a list lacks', () => {
  const all = ['RL', 'RL', 'R', 'R']
    .map(parse)
    .map((one, index) => ({ ...one, weight: [0, 1, 0, 2][index]! }));
  const selection = selectEndpoints(all, BOTH, NODE);
  expect(selection).toMatchObject({
    cluster: [all[1], all[3]],
    local: [all[1]],
    reachable: [all[1], all[3]],
  });
  expect(selection.weightless).toEqual({ cluster: [all[0], all[2]], local: [all[0]] });
  expect(weightlessOf(selection)).toEqual([all[0], all[2]]);
});

it('has none of weight 0 to keep apart where all have it, or none', () => {
  const weighing = (weight: number) => ['RL', 'R'].map(parse).map((one) => ({ ...one, weight }));
  expect(weightlessOf(selectEndpoints(weighing(0), BOTH, NODE))).toEqual([]);
  expect(selectEndpoints(weighing(3), BOTH, NODE).weightless).toBeUndefined();
});

it('tells those that step aside of any list, each once', () => {
  const all = ['RL', 'RL', 'R', 'R'].map(parse);
  const selection = selectEndpoints(all, BOTH, NODE, new Set(['10.0.0.1:8080', '10.0.0.3:8080']));
  expect(ejectedOf(selection)).toEqual([all[0], all[2]]);
  expect(ejectedOf(selectEndpoints(all, BOTH, NODE))).toEqual([]);
});

describe('topology mode (docs/internals/spec/model.md §4.1)', () => {
  it.each<[string, string[], Partial<NodeTopology>, string]>([
    ['the gate is off: node hints do not count', ['R;a;n1', 'R;a;n2'], { nodeHints: false }, 'e1 e2'],
    ['one unhinted ready endpoint disables node hints', ['R;;n1', 'R'], {}, 'e1 e2'],
    ['no zone on the node', ['R;a', 'R;b'], { zone: '' }, 'e1 e2'],
    ['an empty zone hint does not match a node without zone', ['R;a', 'R;b'], { zone: '' }, 'e1 e2'],
    ['nobody hints this zone', ['R;b', 'R;c'], {}, 'e1 e2'],
    ['hints of endpoints that are not ready do not count', ['R', '-;a;n1', 'T;a;n1'], {}, 'e1'],
    ['missing hints of endpoints that are not ready do not matter', ['R;a', 'R;b', '-', 'T'], {}, 'e1'],
    ['nobody is ready: hints do not count for draining ones', ['T;a', 'T;b'], {}, 'e1 e2'],
    ['node hints before zone hints', ['R;a;n2', 'R;b;n1'], {}, 'e2'],
  ])('%s', (_, endpoints, node, cluster) => {
    expect(select(endpoints, CLUSTER, node)[0]).toBe(cluster);
  });
});

describe('reachable and hasAny (docs/internals/spec/model.md §4.4)', () => {
  it.each<[string, string[], PolicyNeeds, unknown[]]>([
    ['nothing, Cluster', [], CLUSTER, ['', undefined, '', false]],
    ['nothing, Local', [], LOCAL, [undefined, '', '', false]],
    ['nothing, both', [], BOTH, ['', '', '', false]],
    ['Local only, draining elsewhere', ['T'], LOCAL, [undefined, '', '', true]],
    ['Local only, dead everywhere', ['-L', '-'], LOCAL, [undefined, '', '', false]],
    ['Local only, here', ['RL', 'R', 'TL'], LOCAL, [undefined, 'e1', 'e1', true]],
    ['Local only, draining here', ['TL', 'R'], LOCAL, [undefined, 'e1', 'e1', true]],
    ['both, no topology, ready here', ['RL', 'R', 'TL'], BOTH, ['e1 e2', 'e1', 'e1 e2', true]],
    ['both, no topology, nobody here', ['R', 'R'], BOTH, ['e1 e2', '', 'e1 e2', true]],
    ['both, draining here', ['TL', 'R', 'T'], BOTH, ['e2', 'e1', 'e1 e2', true]],
    ['both, all draining', ['TL', 'T'], BOTH, ['e1 e2', 'e1', 'e1 e2', true]],
    ['both, node topology', ['R;;n1', 'RL;;n2'], BOTH, ['e1', 'e2', 'e1 e2', true]],
    ['both, topology ignored for Local', ['RL;b', 'RL;a'], BOTH, ['e2', 'e1 e2', 'e1 e2', true]],
    ['both, dead', ['-L'], BOTH, ['', '', '', false]],
  ])('%s', (_, endpoints, needs, expected) => {
    expect(select(endpoints, needs)).toEqual(expected);
  });
});

describe('for all endpoints', () => {
  const names = fc.subarray(['a', 'b']);
  const anyEndpoint = fc.record({
    isLocal: fc.boolean(),
    ready: fc.boolean(),
    serving: fc.boolean(),
    terminating: fc.boolean(),
    zoneHints: names,
    nodeHints: fc.subarray(['n1', 'n2']),
  });
  const inputs = fc.tuple(
    fc
      .array(anyEndpoint, { maxLength: 6 })
      .map((list) => list.map((parts, i) => endpoint(`10.0.0.${i + 1}`, parts))),
    fc.constantFrom(CLUSTER, LOCAL, BOTH),
    fc.record({ nodeName: fc.constant('n1'), zone: fc.constantFrom('', 'a'), nodeHints: fc.boolean() }),
  );
  const drains = (e: Endpoint) => e.serving && e.terminating;

  it('lists contain known, usable endpoints, sorted, and reachable contains all of them', () => {
    fc.assert(
      fc.property(inputs, ([all, needs, node]) => {
        const { cluster, local, reachable, hasAny } = selectEndpoints(all, needs, node);
        expect([cluster !== undefined, local !== undefined]).toEqual([
          needs.usesClusterEndpoints,
          needs.usesLocalEndpoints,
        ]);
        for (const list of [cluster ?? [], local ?? [], reachable]) {
          expect(list.every((e) => all.includes(e) && (e.ready || drains(e)))).toBe(true);
          expect(list).toEqual([...list].sort(comparePlaces));
        }
        expect(local?.every((e) => e.isLocal) ?? true).toBe(true);
        expect(new Set(reachable)).toEqual(new Set([...(cluster ?? []), ...(local ?? [])]));
        expect(hasAny).toBe(all.some((e) => e.ready || drains(e)));
      }),
      { numRuns: 500 },
    );
  });

  it('of each list at most half steps aside, and nothing else changes', () => {
    const places = fc.subarray([1, 2, 3, 4, 5, 6].map((i) => `10.0.0.${i}:8080`));
    let without = 0;
    fc.assert(
      fc.property(inputs, places, ([all, needs, node], aside) => {
        const whole = selectEndpoints(all, needs, node);
        const { cluster, local, reachable, hasAny, ...rest } = selectEndpoints(
          all,
          needs,
          node,
          new Set(aside),
        );
        expect(hasAny).toBe(whole.hasAny);
        for (const [list, before] of [
          [cluster, whole.cluster],
          [local, whole.local],
        ] as const) {
          const left = before?.filter((one) => !aside.includes(endpointPlace(one)));
          expect(list).toEqual(left && left.length * 2 >= before!.length ? left : before);
        }
        expect(reachable).toEqual(sortedOnce([...(cluster ?? []), ...(local ?? [])]));
        if (rest.ejected) without++;
        const missing = (list = whole.cluster, left = cluster) =>
          list?.filter((one) => !left!.includes(one)) ?? [];
        expect(rest.ejected ?? { cluster: [], local: [] }).toEqual({
          cluster: missing(),
          local: missing(whole.local ?? [], local ?? []),
        });
      }),
      { numRuns: 500 },
    );
    expect(without).toBeGreaterThan(20);
  });

  it('draining endpoints are chosen only where no ready one is', () => {
    fc.assert(
      fc.property(inputs, ([all, needs, node]) => {
        const { cluster, local } = selectEndpoints(all, needs, node);
        const ready = all.filter((e) => e.ready);
        if (cluster && ready.length > 0)
          expect(cluster.length > 0 && cluster.every((e) => e.ready)).toBe(true);
        if (cluster && ready.length === 0) expect(cluster).toEqual(all.filter(drains));
        const here = ready.filter((e) => e.isLocal);
        if (local) expect(local).toEqual(here.length > 0 ? here : all.filter((e) => e.isLocal && drains(e)));
      }),
      { numRuns: 500 },
    );
  });
});
