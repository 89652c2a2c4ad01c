import { probedEndpointsLines } from '../../../../../src/diagnostics/adapters/cli/commands/explain.js';
import {
  probeEndpoints,
  withChecks,
  type EndpointAccess,
} from '../../../../../src/diagnostics/application/explain/checks.js';
import { rawService, rawSlice } from '../../../../support/objects.js';
import { SeenCluster } from '../../../../support/seen-cluster.js';
import { shownLines } from '../../../../support/shown-lines.js';

const probedEndpointsText = (...args: Parameters<typeof probedEndpointsLines>): string =>
  shownLines(probedEndpointsLines(...args));

/** 10.1.0.1 answers, 10.1.0.2 is a dead neighbour, 10.1.0.3 is behind a gateway and refuses, 10.1.0.4 has no route. */
class FakeAccess implements EndpointAccess {
  now = 0;
  most = 0;
  readonly tried: string[] = [];

  route(address: string) {
    if (address === '10.1.0.4') return Promise.resolve(undefined);
    if (address === '10.1.0.5') return Promise.reject(new Error('EPERM'));
    return Promise.resolve({
      source: '10.1.0.254',
      device: 'cni0',
      ...(address === '10.1.0.3' && { gateway: '192.0.2.1' }),
    });
  }

  neighbour(address: string) {
    return Promise.resolve({ '10.1.0.1': 'REACHABLE', '10.1.0.2': 'FAILED', '192.0.2.1': 'STALE' }[address]);
  }

  async connect(address: string, port: number) {
    this.tried.push(`${address}:${port}`);
    this.most = Math.max(this.most, ++this.now);
    await new Promise(setImmediate);
    this.now--;
    return { '10.1.0.2': 'no answer within 1 s', '10.1.0.3': 'connect ECONNREFUSED' }[address];
  }

  close = () => Promise.resolve();
}

const slice = (addresses: readonly string[], more: object = {}) =>
  rawSlice({ endpoints: addresses.map((address) => ({ addresses: [address] })), ...more });
const explained = (slices: readonly object[], spec: object = {}) =>
  new SeenCluster().deliver([rawService(spec)], slices).explain.service('shop/cart');

it('tells route, neighbour and connection of each endpoint that is used', async () => {
  const addresses = ['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4', '10.1.0.5'];
  const explanation = await explained([slice(addresses)]);
  const probe = await probeEndpoints(explanation, new FakeAccess());
  expect(probedEndpointsText(probe))
    .toBe(`  probe of 10.1.0.1:8080/TCP: connected, route through cni0, neighbour REACHABLE
  probe of 10.1.0.2:8080/TCP: no answer within 1 s, route through cni0, neighbour FAILED
  probe of 10.1.0.3:8080/TCP: connect ECONNREFUSED, route through cni0 by 192.0.2.1, neighbour STALE
  probe of 10.1.0.4:8080/TCP: no route
  probe of 10.1.0.5:8080/TCP: cannot be probed: EPERM
`);
  expect([explanation.verdict.state, withChecks(explanation, undefined, probe).verdict.state]).toEqual([
    'ok',
    'error',
  ]);
});

it('does not connect by UDP, nor to endpoints that are not used, and is content with those that answer', async () => {
  const udp = [{ name: '', port: 53, protocol: 'UDP' }];
  const access = new FakeAccess();
  const spec = { ports: [{ port: 53, protocol: 'UDP' }] };
  const explanation = await explained([slice(['10.1.0.2'], { ports: udp })], spec);
  const probe = await probeEndpoints(explanation, access);
  expect(probedEndpointsText(probe)).toBe(
    '  probe of 10.1.0.2:53/UDP: not tried, since only TCP can be, route through cni0, neighbour FAILED\n',
  );
  expect([access.tried, withChecks(explanation, undefined, probe).verdict.state]).toEqual([[], 'ok']);
  const unused = { addresses: ['10.1.0.1'], conditions: { ready: false } };
  const none = await probeEndpoints(await explained([rawSlice({ endpoints: [unused] })]), access);
  expect([none, access.tried]).toEqual([{ endpoints: [], omitted: 0 }, []]);
});

it('tries 64 at a time, and 256 in all', async () => {
  const many = Array.from({ length: 300 }, (_, index) => `10.2.${index >> 8}.${index & 255}`);
  const access = new FakeAccess();
  const { endpoints, omitted } = await probeEndpoints(await explained([slice(many)]), access);
  expect([endpoints.length, omitted, access.tried.length]).toEqual([256, 44, 256]);
  expect(access.most).toBeLessThanOrEqual(64);
  expect(access.most).toBeGreaterThan(1);
});

it('tells that the kernel forwards to none of them, though this node reaches them', async () => {
  const off = 'net.ipv4.ip_forward is 0: nothing is forwarded';
  const obstacle = { kind: 'not-forwarded', text: off, affects: () => true } as const;
  const cluster = new SeenCluster({ obstacles: () => Promise.resolve([obstacle]) });
  cluster.deliver([rawService()], [slice(['10.1.0.1'])]);
  const explanation = await cluster.explain.service('shop/cart');
  expect(explanation.verdict.state).toBe('error');
  expect(explanation.families[0]!.ports[0]).toMatchObject({
    verdicts: [{ cause: 'ForwardingDisabled', state: 'error', reason: off }],
    frontends: [{ outcome: 'drop', reason: off }],
  });
  const probe = await probeEndpoints(explanation, new FakeAccess());
  expect(probedEndpointsText(probe)).toBe(
    `  probe of 10.1.0.1:8080/TCP: connected, from this node; ${off}, route through cni0, neighbour REACHABLE\n`,
  );
  expect(probe.endpoints[0]!.problem).toBe(off);
});

it('an endpoint on an address of the node needs no forwarding, and so its frontends forward', async () => {
  const obstacle = {
    kind: 'not-forwarded',
    text: 'off',
    affects: ({ address }: { readonly address: string }) => address !== '10.1.0.1',
  } as const;
  const cluster = new SeenCluster({ obstacles: () => Promise.resolve([obstacle]) });
  cluster.deliver([rawService()], [slice(['10.1.0.1', '10.1.0.2'])]);
  const { families } = await cluster.explain.service('shop/cart');
  expect(families[0]!.ports[0]!.frontends[0]!.outcome).toBe('forward');
});
