import type { EndpointExplanation } from '../../../../src/diagnostics/application/explain/explanation.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';

const port = 'IPv4 shop/cart/tcp/http';
const PORTS = [{ name: 'http', port: 80 }];

const conditions = (ready: boolean, terminating = false) => ({ ready, serving: ready, terminating });
const endpoint = (number: number, pod: string, more: object = {}) => ({
  addresses: [`10.244.1.${number}`],
  targetRef: { kind: 'Pod', name: pod },
  nodeName: 'n2',
  zone: 'a',
  conditions: conditions(true),
  ...more,
});

function cluster(...endpoints: readonly object[]): SeenCluster {
  const ports = [{ name: 'http', port: 8080 }];
  return new SeenCluster().deliver([rawService({ ports: PORTS })], [rawSlice({ ports, endpoints })]);
}

async function endpointsOf(seen: SeenCluster): Promise<readonly EndpointExplanation[]> {
  const { families } = await seen.explain.service('shop/cart');
  return families.flatMap(({ ports }) => ports).flatMap(({ endpoints }) => endpoints);
}

it('makes a Service a warning with the pod, its address and the number of connections', async () => {
  const seen = cluster(endpoint(5, 'cart-1'), endpoint(7, 'cart-7f9'), endpoint(9, 'cart-2'));
  seen.unresponsive.set(port, new Map([['10.244.1.7:8080', 772]]));
  const { verdict } = await seen.explain.service('shop/cart');
  expect(verdict).toEqual({
    state: 'warning',
    cause: 'UnresponsiveEndpoint',
    reason:
      '1 of 3 ready endpoints does not answer: pod cart-7f9 (10.244.1.7:8080), 772 connections without an answer',
    nextStep: 'check the pod of the endpoint: kubectl -n shop describe pod cart-7f9',
  });
  expect(seen.answers.reads).toBe(1);
  expect(await endpointsOf(seen)).toMatchObject([
    {
      address: '10.244.1.7',
      port: 8080,
      pod: 'cart-7f9',
      nodeName: 'n2',
      zone: 'a',
      unresponsive: true,
      ejected: false,
      unansweredConnections: 772,
    },
    { address: '10.244.1.5', unresponsive: false, unansweredConnections: 0 },
    { address: '10.244.1.9', unresponsive: false, unansweredConnections: 0 },
  ]);
});

it('names three of many, and none that is not ready', async () => {
  const numbers = [1, 2, 3, 4, 5];
  const seen = cluster(
    ...numbers.map((number) => endpoint(number, `cart-${number}`)),
    endpoint(6, 'cart-6', { conditions: conditions(false) }),
  );
  seen.unresponsive.set(port, new Map([...numbers, 6].map((number) => [`10.244.1.${number}:8080`, number])));
  expect(seen.verdicts.of('shop/cart')?.reason).toBe(
    '5 of 5 ready endpoints do not answer: pod cart-1 (10.244.1.1:8080), 1 connection without an answer; ' +
      'pod cart-2 (10.244.1.2:8080), 2 connections without an answer; ' +
      'pod cart-3 (10.244.1.3:8080), 3 connections without an answer; 2 more',
  );
  expect((await endpointsOf(seen)).map(({ unresponsive }) => unresponsive)).toEqual([
    ...numbers.map(() => true),
    false,
  ]);
});

it('comes first: unresponsive, ejected, not ready, terminating', async () => {
  const seen = cluster(
    endpoint(1, 'fine'),
    endpoint(2, 'terminating', { conditions: conditions(false, true) }),
    endpoint(3, 'unready', { conditions: conditions(false) }),
    endpoint(4, 'unresponsive'),
    endpoint(5, 'fine-too'),
  );
  seen.unresponsive.set(port, new Map([['10.244.1.4:8080', 3]]));
  expect((await endpointsOf(seen)).map(({ pod }) => pod)).toEqual([
    'unresponsive',
    'unready',
    'terminating',
    'fine',
    'fine-too',
  ]);
});

it('is not known where connections cannot be counted, which is said once', async () => {
  const seen = cluster(endpoint(5, 'cart-1'), endpoint(7, 'cart-7f9'));
  seen.answers.problem = 'connection tracking is unavailable: no permission';
  const explanation = await seen.explain.service('shop/cart');
  expect(explanation).toMatchObject({
    verdict: { state: 'ok' },
    uncountedReason: 'connection tracking is unavailable: no permission',
  });
  const [first] = await endpointsOf(seen);
  expect(first).not.toHaveProperty('unansweredConnections');
});

it('shows new pods at the same addresses', async () => {
  const seen = cluster(endpoint(5, 'cart-1'));
  seen.deliver(
    [],
    [
      rawSlice({
        ports: [{ name: 'http', port: 8080 }],
        endpoints: [endpoint(5, 'cart-9', { nodeName: 'n3', zone: 'b' })],
      }),
    ],
  );
  expect(await endpointsOf(seen)).toMatchObject([{ pod: 'cart-9', nodeName: 'n3', zone: 'b' }]);
});
