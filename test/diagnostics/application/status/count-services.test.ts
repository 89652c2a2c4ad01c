import { CountServices } from '../../../../src/diagnostics/application/status/list-services.js';
import type { RowFilter, ServiceRow } from '../../../../src/diagnostics/application/status/service-row.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';

const NAME = { namespace: 'shop' };
const annotations = { 'kube-proxy-ts/eject-unresponsive-endpoints': 'true' };
const named = (name: string, clusterIP: string) =>
  rawService({ clusterIP }, { metadata: { ...NAME, name, annotations } });
const sliceOf = (service: string, ...addresses: readonly string[]) =>
  rawSlice(
    { endpoints: addresses.map((address) => ({ addresses: [address] })) },
    { name: `${service}-1`, labels: { 'kubernetes.io/service-name': service } },
  );

/** @param hasTwin whether there is a Service with the cluster IP of `b` */
function cluster(hasTwin = false): SeenCluster {
  const seen = new SeenCluster();
  seen.aside.add('10.1.1.2:8080');
  return seen.deliver(
    [
      named('a', '10.96.7.1'),
      named('b', '10.96.7.2'),
      named('c', '10.96.7.3'),
      ...(hasTwin ? [named('twin', '10.96.7.2')] : []),
      rawService({ clusterIP: 'None' }, { metadata: { ...NAME, name: 'headless' } }),
    ],
    [sliceOf('a', '10.1.1.1', '10.1.1.2'), sliceOf('b', '10.1.1.3'), sliceOf('twin', '10.1.1.4')],
  );
}

const never = new AbortController().signal;
const ALL: RowFilter = { names: [], failing: false, withoutEndpoints: false };

function counted({ state, loops, statuses }: SeenCluster, signal = never) {
  return new CountServices(state, loops, statuses).counts(signal);
}

describe('CountServices', () => {
  it('counts Services without an endpoint, and endpoints that step aside', async () => {
    expect(await counted(cluster())).toEqual({
      servicesWithoutEndpoints: 1,
      conflictingFrontends: 0,
      ejectedEndpoints: 1,
    });
  });

  it('counts frontends that other Services hold, and their Services as without endpoints if they have no other', async () => {
    const seen = cluster(true);
    expect(await counted(seen)).toEqual({
      servicesWithoutEndpoints: 2,
      conflictingFrontends: 1,
      ejectedEndpoints: 1,
    });
  });

  it('agrees with the list of Services, to which its numbers lead', async () => {
    const seen = cluster(true);
    const rows: ServiceRow[] = [];
    for await (const portion of seen.list.rows(ALL)) rows.push(...portion);
    const sum = (of: (row: ServiceRow) => number | undefined) =>
      rows.reduce((total, row) => total + (of(row) ?? 0), 0);
    expect(await counted(seen)).toEqual({
      servicesWithoutEndpoints: rows.filter(({ endpointCounts }) => endpointCounts.used === 0).length,
      conflictingFrontends: sum((row) => row.conflicts),
      ejectedEndpoints: sum(({ endpointCounts }) => endpointCounts.ejected),
    });
  });

  it('lets others have their turn, and stops when nobody wants the numbers any more', async () => {
    const services = Array.from({ length: 4_000 }, (_, index) =>
      named(`s${index}`, `10.96.${index >> 8}.${index & 255}`),
    );
    const seen = new SeenCluster().deliver(services);
    const ended = new AbortController();
    const counting = counted(seen, ended.signal);
    ended.abort();
    expect((await counting).servicesWithoutEndpoints).toBe(2_000);
  });
});
