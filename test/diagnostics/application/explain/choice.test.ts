import { choiceOf } from '../../../../src/diagnostics/application/explain/explain-port.js';
import { conditionWords } from '../../../../src/diagnostics/application/words.js';
import { sampleEntry } from '../../../../src/testing/contract/sample-services.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';

const entry = sampleEntry('IPv4', 'web', { number: 1, weights: [1, 2, 5], balancingMethod: 'maglev' });

describe('the choice of endpoints in other modes', () => {
  it('is told by weights', () => {
    const { text, shares } = choiceOf(entry, 'ipvs')!;
    expect(text).toBe(
      "new connections are shared out by a hash of the client's address and port (maglev), by weight",
    );
    expect([...shares.values()]).toEqual([
      { slots: 1, totalSlots: 8 },
      { slots: 2, totalSlots: 8 },
      { slots: 5, totalSlots: 8 },
    ]);
  });

  it('is at random in mode iptables', () => {
    expect(choiceOf(entry, 'iptables')!.text).toBe('new connections are shared out at random, by weight');
  });
});

it('least connections are told with the open connections of each endpoint', async () => {
  const seen = new SeenCluster();
  seen.openConnections.set('10.1.1.1:8080', 7);
  const annotations = { 'kube-proxy-ts/load-balancing': 'least-connections' };
  const cart = rawService();
  const endpoints = ['10.1.1.1', '10.1.1.2'].map((address) => ({ addresses: [address] }));
  seen.deliver(
    [{ ...cart, metadata: { ...(cart['metadata'] as object), annotations } }],
    [rawSlice({ endpoints, ports: [{ name: '', port: 8080, protocol: 'TCP' }] })],
  );
  const { families } = await seen.explain.service('shop/cart');
  const { balancing, endpoints: found } = families[0]!.ports[0]!;
  expect(balancing).toBe(
    'new connections are shared out at random, more to endpoints with fewer open connections from this node: 1021 slots',
  );
  expect(found.map(({ openConnections }) => openConnections)).toEqual([7, 0]);
  expect(conditionWords(found[0]!)).toMatch(/^ready, used, gets \d+ of 1021 \(.* %\), 7 open connections/);
});
