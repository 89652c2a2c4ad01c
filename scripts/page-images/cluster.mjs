/** A small shop as an operator would have it, for the images of docs/observing.md. */

const NAMES = {
  shop: ['cart', 'catalog', 'checkout', 'images', 'recommendations', 'search', 'storefront'],
  payments: ['fraud-check', 'ledger', 'payment-api', 'webhooks'],
  'kube-system': ['kube-dns', 'metrics-server'],
  observability: ['grafana', 'loki', 'otel-collector', 'prometheus'],
  messaging: ['kafka', 'schema-registry'],
};

const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-17', labels: { 'topology.kubernetes.io/zone': 'us-west-2a' } },
  spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
  status: { addresses: [{ type: 'InternalIP', address: '198.51.100.17' }] },
};

/** All objects, as a list. @param round another one for each time; endpoints come and go from round to round */
export function objectsOf(round) {
  const services = Object.entries(NAMES).flatMap(([namespace, names]) =>
    names.map((name) => ({ namespace, name })),
  );
  const items = services.flatMap(({ namespace, name }, number) => {
    const changes = number % 5 === round % 5;
    return objects(namespace, name, number + 10, 2 + (number % 3) + (changes ? round % 2 : 0));
  });
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [node, ...items] });
}

function objects(namespace, name, number, endpoints) {
  const clusterIP = `10.96.0.${number}`;
  const isPublic = ['storefront', 'cart', 'grafana'].includes(name);
  const spec = {
    type: isPublic ? 'NodePort' : 'ClusterIP',
    clusterIP,
    clusterIPs: [clusterIP],
    ipFamilies: ['IPv4'],
    selector: { app: name },
    ports: [{ name: 'http', port: 80, ...(isPublic && { nodePort: 30000 + number }) }],
    ...(name === 'cart' && {
      externalTrafficPolicy: 'Local',
      externalIPs: ['198.51.100.80'],
    }),
  };
  const count = name === 'webhooks' ? 0 : endpoints;
  return [
    { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name }, spec },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { namespace, name: `${name}-x7k2p`, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 8080 }],
      endpoints: Array.from({ length: count + (name === 'cart' ? 1 : 0) }, (_, index) => ({
        addresses: [`10.244.${index + 2}.${number}`],
        nodeName: `node-${index + 20}`,
        zone: `us-west-2${'abc'[index % 3]}`,
        targetRef: { kind: 'Pod', name: `${name}-7d9f8b6c5-${'qwrtz'[index % 5]}x${index}k2` },
        conditions:
          index === count
            ? { ready: false, serving: false, terminating: true }
            : { ready: true, serving: true, terminating: false },
      })),
    },
  ];
}
