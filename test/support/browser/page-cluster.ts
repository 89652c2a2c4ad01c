import { stringify } from 'yaml';
import { testNode, testServiceCidr } from '../testbed/cluster-objects.js';

/** Would run if the page took a name for markup. */
export const MARKUP = `<img src=x onerror="window.isTaken=true"><script>window.isTaken=true</script>`;

/**
 * A small cluster for the page, in YAML: `shop/cart`, forwarded by one policy and dropped by the other, with endpoints of every
 * kind; `shop/empty`, without any; and objects that are refused, with markup where names should be.
 * @param added further endpoints of `shop/cart`
 */
export function pageObjects(...added: readonly string[]): string {
  const endpoints = [
    endpoint('10.244.2.11'),
    endpoint('10.244.2.12'),
    endpoint('10.244.2.13', { ready: false, serving: false, terminating: true }),
    ...added.map((address) => endpoint(address)),
  ];
  const cart = service('shop', 'cart', '172.30.200.6', {
    type: 'NodePort',
    externalTrafficPolicy: 'Local',
    sessionAffinity: 'ClientIP',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30186 }],
  });
  return yaml(
    testNode,
    testServiceCidr,
    cart,
    slice('shop', 'cart', endpoints),
    service('shop', 'empty', '172.30.200.7', { ports: [{ name: 'http', port: 80 }] }),
    slice('shop', 'empty', []),
    service('shop', MARKUP, '172.30.200.8', { ports: [{ name: MARKUP, port: 80 }] }),
    service('shop', 'odd', '172.30.200.9', { ports: [{ name: MARKUP, port: 80, protocol: MARKUP }] }),
  );
}

/** `shop/twin`, which asks for the cluster IP of `shop/cart`, in YAML. */
export function twinService(): string {
  return yaml(
    service('shop', 'twin', '172.30.200.6', { ports: [{ name: 'http', port: 80 }] }),
    slice('shop', 'twin', [endpoint('10.244.2.21')]),
  );
}

/** A cluster without Services. */
export function emptyCluster(): string {
  return yaml(testNode, testServiceCidr);
}

/** `ml/large`, with so many endpoints, of which the 501st is not ready: `10.246.0.0`, `10.246.0.1`, …, in two slices, since one has a thousand at most; in YAML. */
export function largeService(count: number): string {
  const endpoints = Array.from({ length: count }, (_, number) => {
    const isReady = number !== 500;
    return endpoint(`10.246.${number >> 8}.${number & 255}`, { ready: isReady, serving: isReady });
  });
  const half = Math.ceil(count / 2);
  return yaml(
    service('ml', 'large', '172.30.201.1', { ports: [{ name: 'http', port: 80 }] }),
    slice('ml', 'large', endpoints.slice(0, half), 'a'),
    slice('ml', 'large', endpoints.slice(half), 'b'),
  );
}

/** So many Services `many/svc-0`, `many/svc-1`, … with an endpoint each, as a list in JSON, which is read quickly. */
export function manyServices(count: number): string {
  const items = Array.from({ length: count }, (_, number) => {
    const last = `${number >> 8}.${number & 255}`;
    const name = `svc-${number}`;
    return [
      service('many', name, `172.30.${last}`, { ports: [{ name: 'http', port: 80 }] }),
      slice('many', name, [endpoint(`10.245.${last}`)]),
    ];
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: items.flat() });
}

function yaml(...objects: readonly object[]): string {
  return objects.map((object) => stringify(object)).join('---\n');
}

function service(namespace: string, name: string, clusterIP: string, spec: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { type: 'ClusterIP', clusterIP, clusterIPs: [clusterIP], ipFamilies: ['IPv4'], ...spec },
  };
}

function slice(namespace: string, name: string, endpoints: readonly object[], suffix = 'a'): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-${suffix}`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints,
  };
}

function endpoint(
  address: string,
  conditions: object = { ready: true, serving: true, terminating: false },
): object {
  const pod = `pod-${address.split('.').slice(2).join('-')}`;
  return {
    addresses: [address],
    conditions,
    nodeName: 'node2',
    zone: 'b',
    targetRef: { kind: 'Pod', name: pod },
  };
}
