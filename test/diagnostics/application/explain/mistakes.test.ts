import { rawService as rawServiceOf, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import { timeText } from '../../../../src/domain/model/text.js';

const rawService = (spec: object = {}, rest: object = {}) =>
  rawServiceOf({ selector: { app: 'cart' }, ...spec }, rest);
const endpoint = (address: string, parts: object = {}) => ({ addresses: [address], ...parts });
const conditions = (ready: boolean, serving = ready, terminating = false) => ({
  conditions: { ready, serving, terminating },
});
const zone = (name: string) => ({ hints: { forZones: [{ name }] } });
const label = { 'service.kubernetes.io/service-proxy-name': 'cilium' };

describe('classic mistakes: traffic that goes nowhere, or not where one thinks', () => {
  it.each([
    [
      'no slice at all',
      {},
      [],
      'NoEndpointSlice',
      /^no EndpointSlice has the label kubernetes.io\/service-name=cart$/,
    ],
    [
      'another name of the port',
      { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
      [rawSlice({ ports: [{ name: 'dns-udp', port: 53, protocol: 'UDP' }] })],
      'NoSuchPort',
      /^no EndpointSlice has a port named dns \(they have: dns-udp\)$/,
    ],
    [
      'a named targetPort that no pod has: endpoints without a port',
      { ports: [{ name: 'web', port: 80, targetPort: 'http' }] },
      [rawSlice({ ports: [] })],
      'NoSuchTargetPort',
      /^no pod has a port named http, the targetPort of the Service$/,
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
      'NoSuchTargetPort',
      /^no pod has a port named http,/,
    ],
    [
      'a named targetPort, and slices of somebody who calls the port otherwise',
      { ports: [{ name: 'web', port: 80, targetPort: 'http' }] },
      [rawSlice({ ports: [{ name: 'www', port: 8080 }] })],
      'NoSuchPort',
      /^no EndpointSlice has a port named web \(they have: www\)$/,
    ],
    [
      'endpoints without a port, of a Service that asks for a number',
      {},
      [rawSlice({ ports: [] })],
      'NoSuchPort',
      /^its EndpointSlices have no port$/,
    ],
    [
      'another protocol',
      { ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] },
      [rawSlice({ ports: [{ name: 'dns', port: 53 }] })],
      'OtherProtocol',
      /^no EndpointSlice has a port named dns for UDP \(they have: dns for TCP\)$/,
    ],
    [
      'slices of the other family',
      {},
      [rawSlice({ addressType: 'IPv6', endpoints: [endpoint('fd00::1')] })],
      'OtherFamily',
      /^all its EndpointSlices are IPv6, and its cluster IP is IPv4$/,
    ],
    [
      'scaled to zero',
      {},
      [rawSlice({ endpoints: [] })],
      'NoPodSelected',
      /^no pod has the labels app=cart$/,
    ],
    [
      'scaled to zero, without ports',
      {},
      [rawSlice({ endpoints: [], ports: [] })],
      'NoPodSelected',
      /^no pod has the labels app=cart$/,
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
      'NoReadyEndpoint',
      /^0 of 2 endpoints are ready, and 1 is terminating$/,
    ],
    [
      'all terminating',
      {},
      [rawSlice({ endpoints: [endpoint('10.1.1.1', conditions(false, false, true))] })],
      'AllTerminating',
      /^the only endpoint is terminating and no longer serves$/,
    ],
  ])('%s', async (_, spec, slices, cause, text) => {
    const explanation = await new SeenCluster()
      .deliver([rawService(spec)], slices)
      .explain.service('shop/cart');
    const [port] = explanation.families[0]!.ports;
    const reason = expect.stringMatching(text) as string;
    expect(port!.verdicts).toMatchObject([{ state: 'error', cause, reason }]);
    expect(port!.verdicts[0]!.nextStep).toMatch(/kubectl/);
    expect(port!.frontends).toMatchObject([{ outcome: 'reject', ...port!.verdicts[0] }]);
    expect([explanation.known, explanation.verdict]).toEqual([true, port!.verdicts[0]]);
  });

  it.each([
    [
      'only terminating endpoints still serve',
      {},
      [endpoint('10.1.1.1', conditions(false, true, true))],
      'OnlyTerminating',
      /^no endpoint is ready; traffic goes to 1 terminating endpoint that still serves$/,
    ],
    [
      'endpoints of another zone',
      {},
      [endpoint('10.1.1.1', zone('a')), endpoint('10.1.1.2', zone('b'))],
      'OtherZones',
      /^1 ready endpoint is hinted for zone b, and the node is in zone a$/,
    ],
    [
      'the policy is Local, and the endpoints are elsewhere',
      { type: 'NodePort', externalTrafficPolicy: 'Local', ports: [{ port: 80, nodePort: 30080 }] },
      [endpoint('10.1.1.1', { nodeName: 'n2' })],
      'NoLocalEndpoint',
      /^externalTrafficPolicy is Local and no endpoint on the node is ready: the node drops packets from outside the cluster, so load balancers use other nodes$/,
    ],
  ])('no error, but worth a remark: %s', async (_, spec, endpoints, cause, text) => {
    const cluster = new SeenCluster().deliver([rawService(spec)], [rawSlice({ endpoints })]);
    const explanation = await cluster.explain.service('shop/cart');
    const reason = expect.stringMatching(text) as string;
    const state = cause === 'OnlyTerminating' ? 'warning' : 'ok';
    expect(explanation.families[0]!.ports[0]!.verdicts).toMatchObject([{ state, cause, reason }]);
    expect(explanation.verdict).toMatchObject({ state, cause, reason });
  });

  it('no note of other zones for a ready endpoint that no hint keeps away', async () => {
    const elsewhere = [endpoint('10.1.1.1', { nodeName: 'n1' }), endpoint('10.1.1.2', { nodeName: 'n2' })];
    const cluster = new SeenCluster().deliver(
      [rawService({ internalTrafficPolicy: 'Local' })],
      [rawSlice({ endpoints: elsewhere })],
    );
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.verdict).toEqual({ state: 'ok', reason: '2 of 2 endpoints are ready' });
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
    expect((await cluster.explain.service('shop/cart')).families[0]!.ports[0]!.verdicts).toMatchObject([
      {
        cause: 'OtherZones',
        reason: expect.stringMatching(/^2 ready endpoints are hinted for zone b, c,/) as string,
      },
    ]);
  });

  it('a fault: the internal policy is Local, no endpoint is here, and all that pods here send is dropped', async () => {
    const elsewhere = rawSlice({ endpoints: [endpoint('10.1.1.1', { nodeName: 'n2' })] });
    const cluster = new SeenCluster().deliver([rawService({ internalTrafficPolicy: 'Local' })], [elsewhere]);
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.families[0]!.ports[0]).toMatchObject({
      verdicts: [explanation.verdict],
      frontends: [{ outcome: 'drop', ...explanation.verdict }],
    });
    expect(explanation.verdict).toMatchObject({
      state: 'error',
      cause: 'NoLocalEndpoint',
      reason:
        'internalTrafficPolicy is Local and no endpoint on the node is ready: packets from clients on the node are dropped',
    });
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
    const verdict = async () => (await cluster.explain.service('shop/cart')).verdict;
    const reason = '10.96.7.1:80/TCP belongs to shop/other';
    const conflicts = [{ frontend: '10.96.7.1:80/TCP', owner: 'shop/other' }];
    cluster.statuses.set('IPv4', 'shop/cart/tcp/', {
      state: 'degraded',
      sinceTime: timeText(1),
      reason,
      conflicts,
    });
    expect(await verdict()).toMatchObject({
      state: 'error',
      cause: 'FrontendConflict',
      reason: `all its frontends belong to other Services: ${reason}`,
    });
    const [port] = (await cluster.explain.service('shop/cart')).families[0]!.ports;
    expect(port!.frontends).toMatchObject([{ outcome: 'conflict', reason: 'belongs to shop/other' }]);
    expect(port!.endpoints).toMatchObject([
      { used: false, reason: 'all its frontends belong to other Services' },
    ]);
    cluster.statuses.set('IPv4', 'shop/cart/tcp/', {
      state: 'failed',
      sinceTime: timeText(1),
      reason: 'EINVAL',
      attempts: 2,
    });
    expect(await verdict()).toMatchObject({
      state: 'error',
      cause: 'ProgrammingFailed',
      reason: 'it cannot be programmed on the node: EINVAL',
    });
  });

  it.each([
    [{}, [rawSlice()], 'packets go to its endpoint 10.244.1.5:8080'],
    [
      {},
      [rawSlice({ endpoints: ['10.1.1.1', '10.1.1.2', '10.1.1.3', '10.1.1.4'].map((one) => endpoint(one)) })],
      'packets go to its 4 endpoints 10.1.1.1:8080, 10.1.1.2:8080, 10.1.1.3:8080 and 1 more',
    ],
    [{}, [], 'packets are rejected: it has no endpoint that can be used'],
    [
      { internalTrafficPolicy: 'Local' },
      [rawSlice()],
      'packets are dropped: its policy is Local, and no endpoint on the node is ready',
    ],
  ])('where packets go to a frontend that another Service holds: %#', async (spec, slices, fate) => {
    const other = rawService({ ports: [{ name: 'http', port: 80 }], ...spec });
    const named = slices.map((slice) => ({ ...slice, ports: [{ name: 'http', port: 8080 }] }));
    const loser = rawService({}, { metadata: { namespace: 'shop', name: 'twin' } });
    const cluster = new SeenCluster().deliver([other, loser], named);
    const [port] = (await cluster.explain.service('shop/twin')).families[0]!.ports;
    expect(port!.frontends).toMatchObject([
      { outcome: 'conflict', reason: `belongs to shop/cart:http, ${fate}` },
    ]);
  });

  it('a Service that is held back because its slice may be in what could not be read', async () => {
    const cluster = new SeenCluster();
    cluster.unread.push('a.yaml:7: EndpointSlice shop/x: ports: must be a list');
    cluster.deliver([rawService()]);
    cluster.loops[0]!.table.update(new SeenCluster().state, ['shop/cart'], {} as never);
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.families.map(({ absence }) => absence)).toEqual([
      explanation.verdict,
      { state: 'ok', reason: 'no cluster IP of this family' },
    ]);
    expect(explanation.verdict).toMatchObject({
      state: 'warning',
      cause: 'UnreadObjects',
      reason: expect.stringMatching(/first: a\.yaml:7/) as string,
    });
  });
});

describe('Services that are not served, each told apart', () => {
  const metadata = { namespace: 'shop', name: 'cart' };

  it.each([
    ['ok', 'Headless', rawService({ clusterIP: 'None' }), /headless/],
    ['ok', 'ExternalName', rawService({ type: 'ExternalName' }), /ExternalName/],
    ['ok', 'OtherProxy', rawService({}, { metadata: { ...metadata, labels: label } }), /another proxy/],
    ['warning', 'NoClusterIP', rawService({ clusterIP: '' }), /no cluster IP yet/],
    [
      'error',
      'InvalidObject',
      rawService({ clusterIP: '10.96.7' }),
      /^it is invalid and ignored: .*clusterIP "10\.96\.7"/,
    ],
  ])('%s, %s, delivered or found by asking', async (state, cause, raw, text) => {
    const verdict = { state, cause, reason: expect.stringMatching(text) as string };
    const delivered = await new SeenCluster().deliver([raw]).explain.service('shop/cart');
    expect(delivered).toMatchObject({ known: false, verdict });
    if (cause === 'InvalidObject') return;
    const asked: string[] = [];
    const find = (key: string) => Promise.resolve(asked.push(key) > 0 ? raw : undefined);
    const cluster = new SeenCluster({ lookup: { find } });
    expect((await cluster.explain.service('shop/cart')).verdict).toMatchObject(verdict);
    expect(asked).toEqual(['shop/cart']);
  });

  it('there is none, but namesakes', async () => {
    const other = rawService({}, { metadata: { namespace: 'prod', name: 'cart' } });
    const cluster = new SeenCluster().deliver([
      other,
      rawService({}, { metadata: { namespace: 'shop', name: 'my-cart' } }),
    ]);
    expect((await cluster.explain.service('shop/cart')).verdict).toMatchObject({
      state: 'error',
      cause: 'NotFound',
      reason: 'there is no Service cart in namespace shop; of that name there is prod/cart',
    });
    expect((await cluster.explain.service('shop/none')).verdict).toMatchObject({
      cause: 'NotFound',
      reason: 'there is no Service none in namespace shop',
    });
  });

  it('it cannot be told, because the API server is not reachable', async () => {
    const find = () => Promise.reject(new Error('ECONNREFUSED'));
    const { verdict } = await new SeenCluster({ lookup: { find } }).explain.service('shop/cart');
    expect(verdict).toMatchObject({
      state: 'warning',
      cause: 'Unknown',
      reason: expect.stringMatching(/cannot be queried: ECONNREFUSED$/) as string,
    });
  });

  it('it has just been made', async () => {
    const find = () => Promise.resolve(rawService());
    const { verdict } = await new SeenCluster({ lookup: { find } }).explain.service('shop/cart');
    expect(verdict).toMatchObject({
      cause: 'Unknown',
      reason: expect.stringContaining('not been delivered') as string,
    });
  });

  it('a Service that was served is, once it is of another kind, and the other way round', async () => {
    const cluster = new SeenCluster().deliver([rawService()], [rawSlice()]);
    const verdict = async () => (await cluster.explain.service('shop/cart')).verdict;
    expect(await verdict()).toEqual({ state: 'ok', reason: '1 of 1 endpoint is ready' });
    cluster.deliver([rawService({ clusterIP: 'None' })]);
    expect((await verdict()).cause).toBe('Headless');
    cluster.deliver([rawService()]);
    expect(await verdict()).toEqual({ state: 'ok', reason: '1 of 1 endpoint is ready' });
  });
});

describe('EndpointSlices that may be meant for a Service without any', () => {
  it.each([
    [
      'one without the label',
      [rawSlice({}, { name: 'cart-abcde', labels: {} })],
      ['shop/cart-abcde (without the label)'],
    ],
    [
      'at most five',
      [1, 2, 3, 4, 5, 6].map((number) => rawSlice({}, { name: `cart-${number}`, labels: {} })),
      [1, 2, 3, 4, 5].map((number) => `shop/cart-${number} (without the label)`),
    ],
    [
      'one with a misspelled label',
      [rawSlice({}, { name: 'crat-abcde', labels: { 'kubernetes.io/service-name': 'crat' } })],
      ['shop/crat-abcde (labeled crat, which is no Service)'],
    ],
    [
      'none of an invalid Service',
      [rawSlice({}, { name: 'bad-abcde', labels: { 'kubernetes.io/service-name': 'bad' } })],
      [],
    ],
  ])('%s', async (_, slices, candidates) => {
    const invalid = rawService({ ports: 'none' }, { metadata: { namespace: 'shop', name: 'bad' } });
    const cluster = new SeenCluster().deliver([rawService(), invalid], slices);
    const explanation = await cluster.explain.service('shop/cart');
    expect(explanation.candidates ?? []).toEqual(candidates);
  });
});
