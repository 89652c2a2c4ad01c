import { FindEndpoints } from '../../../../src/diagnostics/application/status/list-services.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';

const named = (name: string, number: number) =>
  rawService(
    { clusterIP: `10.96.${number >> 8}.${number & 255}` },
    { metadata: { namespace: 'shop', name } },
  );
const sliceOf = (name: string, ...addresses: readonly string[]) =>
  rawSlice(
    { endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: false } })) },
    { namespace: 'shop', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
  );
const never = new AbortController().signal;

describe('FindEndpoints', () => {
  const { state } = new SeenCluster().deliver(
    [named('web', 1), named('cart', 2)],
    [sliceOf('web', '10.1.1.1', '10.1.1.12'), sliceOf('cart', '10.1.2.1'), sliceOf('gone', '10.1.1.5')],
  );
  const endpoints = new FindEndpoints(state);

  it.each([
    [['10.1.2.1'], [['shop/cart', '10.1.2.1:8080']]],
    [['10.1.1.12'], [['shop/web', '10.1.1.12:8080']]],
    [
      ['10.1.1.1', ':8080', '.2.'],
      [
        ['shop/cart', '10.1.2.1:8080'],
        ['shop/web', '10.1.1.12:8080'],
      ],
    ],
    [['10.9.'], []],
    [[], []],
  ])('finds %j, whatever its state, in Services that exist', async (texts, found) => {
    const matches = await endpoints.matching(texts, never);
    expect(matches.map(({ service, endpoints }) => [service, ...endpoints]).sort()).toEqual(found);
  });

  it('looks no further for a client that has left', async () => {
    const many = Array.from({ length: 6_000 }, (_, number) => `s${number}`);
    const large = new SeenCluster().deliver(
      many.map(named),
      many.map((name) => sliceOf(name, '10.1.1.1')),
    );
    const search = new FindEndpoints(large.state);
    expect(await search.matching(['10.1'], never)).toHaveLength(6_000);
    expect((await search.matching(['10.1'], AbortSignal.abort())).length).toBeLessThan(3_000);
  });
});
