import { isSound } from '../../../../src/diagnostics/application/explain/explanation.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import { timeText } from '../../../../src/domain/model/text.js';

const endpoint = (address: string, parts: object = {}) => ({ addresses: [address], ...parts });
const conditions = (ready: boolean, serving = ready, terminating = false) => ({
  conditions: { ready, serving, terminating },
});
const zone = (name: string) => ({ hints: { forZones: [{ name }] } });
const label = { 'service.kubernetes.io/service-proxy-name': 'cilium' };

describe('classic mistakes: traffic that goes nowhere, or not where one thinks', () => {
  it.each([
    ['no slice at all', {}, [], 'no-slices', /^no EndpointSlice carries its label .*service-name=cart$/],
    [
      'a slice without the label',
      {},
      [rawSlice({}, { name: 'cart-abcde', labels: {} })],
      'no-slices',
      /may be meant for it: shop\/cart-abcde \(without the label\)$/,
    ],
    [
      'many slices without the label',
      {},
      [1, 2, 3, 4, 5, 6].map((number) => rawSlice({}, { name: `cart-${number}`, labels: {} })),
      'no-slices',
      /may be meant for it: shop\/cart-1 \(.*\), .*shop\/cart-5 \(without the label\)$/,
    ],
    [
      'a slice with a misspelled label',
      {},
      [rawSlice({}, { name: 'crat-abcde', labels: { 'kubernetes.io/service-name': 'crat' } })],
      'no-slices',
      /may be meant for it: shop\/crat-abcde \(labeled crat, which is no Service\)$/,
    ],
    [
      'another name of the port',
      { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
      [rawSlice({ ports: [{ name: 'dns-udp', port: 53, protocol: 'UDP' }] })],
      'no-such-port',
      /^no EndpointSlice has a port named dns \(they have: dns-udp\)$/,
    ],
    [
      'a named targetPort that no pod has: endpoints without a port',
      { ports: [{ name: 'web', port: 80, targetPort: 'http' }] },
      [rawSlice({ ports: [] })],
      'no-pod-port',
      /^no pod has a port named http, which the Service's targetPort asks for$/,
    ],
    [
      'the same, as the other encoding has it, beside a port that pods have',
      {
        ports: [
          { name: 'web', port: 80, targetPort: { strVal: 'http' } },
          { name: 'metrics', port: 90 },
        ],
      },
      [rawSlice({ ports: [{ name: 'metrics', port: 9090 }] })],
      'no-pod-port',
      /^no pod has a port named http,/,
    ],
    [
      'a named targetPort, and slices of somebody who calls the port otherwise',
      { ports: [{ name: 'web', port: 80, targetPort: 'http' }] },
      [rawSlice({ ports: [{ name: 'www', port: 8080 }] })],
      'no-such-port',
      /^no EndpointSlice has a port named web \(they have: www\)$/,
    ],
    [
      'endpoints without a port, of a Service that asks for a number',
      {},
      [rawSlice({ ports: [] })],
      'no-such-port',
      /^its EndpointSlices list endpoints, but no port$/,
    ],
    [
      'another protocol',
      { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
      [rawSlice({ ports: [{ name: 'dns', port: 53 }] })],
      'other-protocol',
      /^no EndpointSlice has a port named dns for UDP \(they have: dns for TCP\)$/,
    ],
    [
      'slices of the other family',
      {},
      [rawSlice({ addressType: 'IPv6', endpoints: [endpoint('fd00::1')] })],
      'other-family',
      /^all its EndpointSlices are of family IPv6, its cluster IP is IPv4$/,
    ],
    [
      'scaled to zero',
      {},
      [rawSlice({ endpoints: [] })],
      'no-endpoints',
      /list no endpoint: .*scaled to zero$/,
    ],
    [
      'scaled to zero, without ports',
      {},
      [rawSlice({ endpoints: [], ports: [] })],
      'no-endpoints',
      /list no endpoint/,
    ],
    [
      'none ready',
      {},
      [
        rawSlice({
          endpoints: [
            endpoint('10.1.1.1', conditions(false)),
            endpoint('10.1.1.2', conditions(false, false, true)),
          ],
        }),
      ],
      'none-ready',
      /^2 endpoints, none ready, 1 terminating$/,
    ],
    [
      'all terminating',
      {},
      [rawSlice({ endpoints: [endpoint('10.1.1.1', conditions(false, false, true))] })],
      'all-terminating',
      /^1 endpoint, all terminating and no longer serving$/,
    ],
  ])('%s', async (_, spec, slices, kind, text) => {
    const explanation = await new SeenCluster()
      .deliver([rawService(spec)], slices)
      .explain.service('shop/cart');
    const [port] = explanation.families[0]!.ports;
    expect(port!.findings).toEqual([{ kind, isFault: true, text: expect.stringMatching(text) as string }]);
    expect(port!.frontends).toMatchObject([{ outcome: 'reject', reason: port!.findings[0]!.text }]);
    expect([explanation.known, isSound(explanation)]).toEqual([true, false]);
  });

  it.each([
    [
      'only terminating endpoints still serve',
      {},
      [endpoint('10.1.1.1', conditions(false, true, true))],
      'draining',
      /^no endpoint is ready; traffic goes to 1 terminating, still serving$/,
    ],
    [
      'endpoints of another zone',
      {},
      [endpoint('10.1.1.1', zone('a')), endpoint('10.1.1.2', zone('b'))],
      'other-zones',
      /^1 ready endpoint is hinted for zone b; this node is in zone a$/,
    ],
    [
      'the policy is Local, and the endpoints are elsewhere',
      { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30080 }] },
      [endpoint('10.1.1.1', { nodeName: 'n2' })],
      'none-local',
      /^the policy of node-port is Local, and no endpoint on this node is usable$/,
    ],
  ])('no fault, but worth a note: %s', async (_, spec, endpoints, kind, text) => {
    const cluster = new SeenCluster().deliver([rawService(spec)], [rawSlice({ endpoints })]);
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.families[0]!.ports[0]!.findings).toEqual([
      { kind, isFault: false, text: expect.stringMatching(text) as string },
    ]);
    expect(isSound(explanation)).toBe(true);
  });

  it('no note of other zones for a ready endpoint that no hint keeps away', async () => {
    const elsewhere = [endpoint('10.1.1.1', { nodeName: 'n1' }), endpoint('10.1.1.2', { nodeName: 'n2' })];
    const cluster = new SeenCluster().deliver(
      [rawService({ internalTrafficPolicy: 'Local' })],
      [rawSlice({ endpoints: elsewhere })],
    );
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.families[0]!.ports[0]!.findings).toEqual([]);
  });

  it('a note of endpoints that are hinted for other zones and nodes at once', async () => {
    const everywhere = { hints: { forZones: [{ name: 'c' }, { name: 'b' }], forNodes: [{ name: 'n2' }] } };
    const cluster = new SeenCluster().deliver(
      [rawService()],
      [
        rawSlice({
          endpoints: [
            endpoint('10.1.1.1', zone('a')),
            endpoint('10.1.1.2', everywhere),
            endpoint('10.1.1.3', zone('b')),
          ],
        }),
      ],
    );
    expect((await cluster.explain.service('shop/cart')).families[0]!.ports[0]!.findings).toMatchObject([
      {
        kind: 'other-zones',
        text: expect.stringMatching(/^2 ready endpoints are hinted for zone b, c;/) as string,
      },
    ]);
  });

  it('a fault: the internal policy is Local, no endpoint is here, and all that pods here send is dropped', async () => {
    const elsewhere = rawSlice({ endpoints: [endpoint('10.1.1.1', { nodeName: 'n2' })] });
    const cluster = new SeenCluster().deliver([rawService({ internalTrafficPolicy: 'Local' })], [elsewhere]);
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.families[0]!.ports[0]).toMatchObject({
      findings: [
        {
          kind: 'none-local',
          isFault: true,
          text: 'the policy of cluster-ip is Local, and no endpoint on this node is usable: what pods here send there is dropped',
        },
      ],
      frontends: [{ outcome: 'drop', reason: 'the policy is Local, and no endpoint on this node is usable' }],
    });
    expect(isSound(explanation)).toBe(false);
  });

  it('endpoints that are ready and yet not used: of another zone, or elsewhere with the policy Local', async () => {
    const zones = [endpoint('10.1.1.1', zone('a')), endpoint('10.1.1.2', zone('b'))];
    const hinted = new SeenCluster().deliver([rawService()], [rawSlice({ endpoints: zones })]);
    const local = new SeenCluster().deliver(
      [rawService({ internalTrafficPolicy: 'Local' })],
      [
        rawSlice({
          endpoints: [endpoint('10.1.1.1', { nodeName: 'n1' }), endpoint('10.1.1.2', { nodeName: 'n2' })],
        }),
      ],
    );
    const reasons = async (cluster: SeenCluster) =>
      (await cluster.explain.service('shop/cart')).families[0]!.ports[0]!.endpoints.map(
        ({ reason }) => reason,
      );
    expect(await reasons(hinted)).toEqual([undefined, 'hinted for others than this node']);
    expect(await reasons(local)).toEqual([undefined, 'the policy is Local, and it is on another node']);
  });

  it('a frontend that another Service holds, and one that the kernel rejects', async () => {
    const cluster = new SeenCluster().deliver([rawService()], [rawSlice()]);
    const findings = async () => (await cluster.explain.service('shop/cart')).families[0]!.ports[0]!.findings;
    const reason = '10.96.7.1:80/TCP belongs to shop/other';
    const held = [{ frontend: '10.96.7.1:80/TCP', owner: 'shop/other' }];
    cluster.statuses.set('IPv4', 'shop/cart/tcp/', {
      state: 'degraded',
      sinceTime: timeText(1),
      reason,
      conflicts: held,
    });
    expect(await findings()).toEqual([{ kind: 'degraded', isFault: true, text: reason }]);
    const [port] = (await cluster.explain.service('shop/cart')).families[0]!.ports;
    expect(port!.frontends).toMatchObject([{ outcome: 'held', reason: 'belongs to shop/other' }]);
    expect(port!.endpoints).toMatchObject([
      { used: false, reason: 'all its frontends belong to other Services' },
    ]);
    cluster.statuses.set('IPv4', 'shop/cart/tcp/', {
      state: 'failed',
      sinceTime: timeText(1),
      reason: 'EINVAL',
      attempts: 2,
    });
    expect(await findings()).toEqual([{ kind: 'failed', isFault: true, text: 'EINVAL' }]);
  });

  it.each([
    [{}, [rawSlice()], 'packets go to its endpoint 10.244.1.5:8080'],
    [
      {},
      [rawSlice({ endpoints: ['10.1.1.1', '10.1.1.2', '10.1.1.3', '10.1.1.4'].map((one) => endpoint(one)) })],
      'packets go to its 4 endpoints 10.1.1.1:8080, 10.1.1.2:8080, 10.1.1.3:8080 and 1 more',
    ],
    [{}, [], 'packets are refused: it has no usable endpoint'],
    [
      { internalTrafficPolicy: 'Local' },
      [rawSlice()],
      'packets are dropped: its policy is Local, and no endpoint on this node is usable',
    ],
  ])('where packets go to a frontend that another Service holds: %#', async (spec, slices, fate) => {
    const other = rawService({ ports: [{ name: 'http', port: 80 }], ...spec });
    const named = slices.map((slice) => ({ ...slice, ports: [{ name: 'http', port: 8080 }] }));
    const loser = rawService({}, { metadata: { namespace: 'shop', name: 'twin' } });
    const cluster = new SeenCluster().deliver([other, loser], named);
    const [port] = (await cluster.explain.service('shop/twin')).families[0]!.ports;
    expect(port!.frontends).toMatchObject([
      { outcome: 'held', reason: `belongs to shop/cart:http, ${fate}` },
    ]);
  });

  it('a Service that is held back because its slice may be in what could not be read', async () => {
    const cluster = new SeenCluster();
    cluster.unread.push('a.yaml:7: EndpointSlice shop/x: ports: must be a list');
    cluster.deliver([rawService()]);
    cluster.loops[0]!.table.update(new SeenCluster().state, ['shop/cart'], {} as never);
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.families.map(({ absence }) => absence)).toEqual([
      { kind: 'held-back', text: expect.stringMatching(/first: a\.yaml:7/) as string },
      { kind: 'no-cluster-ip', text: 'no cluster IP of this family' },
    ]);
    expect(isSound(explanation)).toBe(false);
  });
});

describe('Services that are not served, each told apart', () => {
  const metadata = { namespace: 'shop', name: 'cart' };

  it.each([
    ['headless', rawService({ clusterIP: 'None' }), /headless/],
    ['external-name', rawService({ type: 'ExternalName' }), /ExternalName/],
    ['other-proxy', rawService({}, { metadata: { ...metadata, labels: label } }), /another proxy/],
    ['no-cluster-ip', rawService({ clusterIP: '' }), /no cluster IP yet/],
    ['invalid', rawService({ clusterIP: '10.96.7' }), /^its object is invalid: .*clusterIP "10\.96\.7"/],
  ])('%s, delivered or found by asking', async (kind, raw, text) => {
    const unserved = { kind, text: expect.stringMatching(text) as string };
    const delivered = await new SeenCluster().deliver([raw]).explain.service('shop/cart');
    expect(delivered).toMatchObject({ known: false, unserved });
    expect(isSound(delivered)).toBe(false);
    if (kind === 'invalid') return;
    const asked: string[] = [];
    const find = (key: string) => Promise.resolve(asked.push(key) > 0 ? raw : undefined);
    const cluster = new SeenCluster({ lookup: { find } });
    expect((await cluster.explain.service('shop/cart')).unserved).toEqual(unserved);
    expect(asked).toEqual(['shop/cart']);
  });

  it('there is none, but namesakes', async () => {
    const other = rawService({}, { metadata: { namespace: 'prod', name: 'cart' } });
    const cluster = new SeenCluster().deliver([
      other,
      rawService({}, { metadata: { namespace: 'shop', name: 'my-cart' } }),
    ]);
    expect((await cluster.explain.service('shop/cart')).unserved).toEqual({
      kind: 'absent',
      text: 'there is no Service cart in namespace shop; of that name there is prod/cart',
    });
    expect((await cluster.explain.service('shop/none')).unserved).toEqual({
      kind: 'absent',
      text: 'there is no Service none in namespace shop',
    });
  });

  it('it cannot be told, because nobody answers', async () => {
    const find = () => Promise.reject(new Error('ECONNREFUSED'));
    const { unserved } = await new SeenCluster({ lookup: { find } }).explain.service('shop/cart');
    expect(unserved).toEqual({
      kind: 'undelivered',
      text: expect.stringMatching(/cannot be asked: ECONNREFUSED$/) as string,
    });
  });

  it('it has just been made', async () => {
    const find = () => Promise.resolve(rawService());
    const { unserved } = await new SeenCluster({ lookup: { find } }).explain.service('shop/cart');
    expect(unserved).toMatchObject({
      kind: 'undelivered',
      text: expect.stringContaining('not arrived') as string,
    });
  });

  it('a Service that was served is, once it is of another kind, and the other way round', async () => {
    const cluster = new SeenCluster().deliver([rawService()], [rawSlice()]);
    expect((await cluster.explain.service('shop/cart')).unserved).toBeUndefined();
    cluster.deliver([rawService({ clusterIP: 'None' })]);
    expect((await cluster.explain.service('shop/cart')).unserved?.kind).toBe('headless');
    cluster.deliver([rawService()]);
    expect(isSound(await cluster.explain.service('shop/cart'))).toBe(true);
  });
});
