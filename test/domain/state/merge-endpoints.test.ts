import fc from 'fast-check';
import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import type { EndpointSlice } from '../../../src/domain/model/endpoint-slice.js';
import { mergeEndpoints } from '../../../src/domain/state/cluster-state.js';
import { slice, sliceEndpoint } from '../../support/samples.js';

const UNNAMED = { port: '', protocol: 'TCP' } as const;
const draining = { ready: false, terminating: true };
const places = (slices: readonly EndpointSlice[]) => mergeEndpoints(slices)(UNNAMED).map(endpointPlace);

describe('mergeEndpoints (docs/internals/spec/model.md §3.3)', () => {
  it('merges slices, sorted bytewise by the place', () => {
    expect(
      places([
        slice('b', [sliceEndpoint('10.0.0.9'), sliceEndpoint('10.0.0.2')]),
        slice('a', [sliceEndpoint('10.0.0.10')]),
      ]),
    ).toEqual(['10.0.0.10:8080', '10.0.0.2:8080', '10.0.0.9:8080']);
  });

  it('writes IPv6 with brackets', () => {
    expect(places([slice('a', [sliceEndpoint('fd00::1')], { family: 'IPv6' })])).toEqual(['[fd00::1]:8080']);
  });

  it('the worked example: a reused IP is one ready endpoint, in either order', () => {
    const old = [sliceEndpoint('10.0.0.5', draining)];
    const fresh = [sliceEndpoint('10.0.0.5', { isLocal: true })];
    for (const slices of [
      [slice('a', old), slice('b', fresh)],
      [slice('a', fresh), slice('b', old)],
    ]) {
      expect(mergeEndpoints(slices)(UNNAMED)).toEqual([
        expect.objectContaining({
          address: '10.0.0.5',
          port: 8080,
          ready: true,
          terminating: false,
          isLocal: true,
        }),
      ]);
    }
  });

  it('takes slices in the order of their names', () => {
    const [one, other] = [{ ready: true }, { ready: false }].map((parts) => [
      sliceEndpoint('10.0.0.5', parts),
    ]);
    expect(mergeEndpoints([slice('b', one!), slice('a', other!)])(UNNAMED)).toMatchObject([{ ready: true }]);
    expect(mergeEndpoints([slice('b', other!), slice('a', one!)])(UNNAMED)).toMatchObject([{ ready: false }]);
  });

  it('the first of several terminating ones stays, the last of several others wins', () => {
    const of = (parts: object[]) =>
      mergeEndpoints([
        slice(
          'a',
          parts.map((part) => sliceEndpoint('10.0.0.5', part)),
        ),
      ])(UNNAMED)[0];
    expect(
      of([
        { ...draining, serving: true },
        { ...draining, serving: false },
      ]),
    ).toMatchObject({ serving: true });
    expect(of([{ ready: true }, { ready: false }])).toMatchObject({ ready: false });
    expect(of([{ ready: false }, { ready: true }, draining])).toMatchObject({
      ready: true,
      terminating: false,
    });
  });

  it('takes ports by name and protocol; numbers may differ between slices', () => {
    const ports = (port: number, name = 'web', protocol: 'TCP' | 'UDP' = 'TCP') => ({
      ports: [{ name, port, protocol }],
    });
    const slices = [
      slice('a', [sliceEndpoint('10.0.0.1')], ports(1)),
      slice('b', [sliceEndpoint('10.0.0.1')], ports(2)),
      slice('c', [sliceEndpoint('10.0.0.1')], ports(3, 'web', 'UDP')),
      slice('d', [sliceEndpoint('10.0.0.1')], ports(4, '')),
    ];
    const of = (port: string, protocol: 'TCP' | 'UDP') =>
      mergeEndpoints(slices)({ port, protocol }).map((e) => e.port);
    expect([of('web', 'TCP'), of('web', 'UDP'), of('', 'TCP'), of('', 'UDP')]).toEqual([
      [1, 2],
      [3],
      [4],
      [],
    ]);
  });

  it('the same of many ports as of few', () => {
    const portsFrom = (shift: number) =>
      Array.from({ length: 50 }, (_, index) => ({
        name: `p${index % 25}`,
        port: shift + index,
        protocol: index < 25 ? ('TCP' as const) : ('UDP' as const),
      }));
    const slices = [
      slice('b', [sliceEndpoint('10.0.0.2')], { ports: portsFrom(2000) }),
      slice('a', [sliceEndpoint('10.0.0.1'), sliceEndpoint('10.0.0.3')], { ports: portsFrom(1000) }),
    ];
    const of = mergeEndpoints(slices);
    expect(of({ port: 'p7', protocol: 'UDP' }).map(endpointPlace)).toEqual([
      '10.0.0.1:1032',
      '10.0.0.2:2032',
      '10.0.0.3:1032',
    ]);
    expect(of({ port: 'p7', protocol: 'SCTP' })).toEqual([]);
    expect(of({ port: 'p25', protocol: 'TCP' })).toEqual([]);
  });

  it('gives each place once, sorted, the same for every order of slices', () => {
    const endpoints = fc.array(
      fc.record({
        last: fc.integer({ min: 1, max: 12 }),
        ready: fc.boolean(),
        serving: fc.boolean(),
        terminating: fc.boolean(),
      }),
      { maxLength: 5 },
    );
    const slices = fc
      .uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), endpoints }), {
        selector: ({ name }) => name,
      })
      .map((list) =>
        list.map(({ name, endpoints: of }) => ({
          name,
          endpoints: of.map(({ last, ...parts }) => sliceEndpoint(`10.0.0.${last}`, parts)),
        })),
      );
    const shuffled = slices.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const [merged, again] = [one, other].map((list) =>
          mergeEndpoints(list.map((each) => slice(each.name, each.endpoints)))(UNNAMED),
        );
        expect(again).toEqual(merged);
        const all = one.flatMap((each) => each.endpoints.map(({ address }) => `${address}:8080`));
        expect(merged?.map(endpointPlace)).toEqual([...new Set(all)].sort());
        for (const { address, terminating } of merged ?? []) {
          const same = one.flatMap((each) => each.endpoints.filter((e) => e.address === address));
          expect(terminating).toBe(same.every((e) => e.terminating));
        }
      }),
    );
  });
});
