import type { ExpectedEndpoint, ExpectedPort } from '../checks/expected-ports.js';
import { iptablesRules } from './iptables-mode.js';
import { servedPort } from './kube-proxy-mode.js';

const READY = { local: true, ready: true, serving: true, terminating: false, zones: [], nodes: [] };
const NOWHERE = {
  createdAt: Infinity,
  weights: new Map<string, number>(),
  portName: '',
  weightless: { cluster: [], local: [] },
  method: 'random',
  known: [],
  serving: [],
  sourceRanges: [],
  healthCheckNodePort: 0,
  nodeAddress: '',
};

function served(key: string, address: string, endpoint: string) {
  const endpoints: readonly ExpectedEndpoint[] = [{ ...READY, address: endpoint, port: 8080, weight: 1 }];
  const port: ExpectedPort = {
    ...NOWHERE,
    key,
    service: key.slice(0, -'/TCP'.length),
    protocol: 'TCP',
    family: 'IPv4',
    isExternallyAccessible: false,
    frontends: [{ kind: 'cluster-ip', address, port: 80, protocol: 'TCP' }],
    cluster: endpoints,
    local: endpoints,
    hasAny: true,
    internalPolicyLocal: false,
    externalPolicyLocal: false,
    affinitySeconds: 0,
    localNetwork: '10.244.0.0/16',
  };
  return servedPort(port);
}

const ports = [
  served('shop/cart/TCP', '10.96.0.1', '10.244.1.1'),
  served('shop/stock/TCP', '10.96.0.2', '10.244.1.2'),
];
const chainsIn = (input: string) =>
  [...input.matchAll(/^:(\S+) /gm)].map(([, name]) => name!).filter((name) => /^KUBE-(SVC|SEP)-/.test(name));
const linesTo = (input: string, text: string) => input.split('\n').filter((line) => line.includes(text));

describe('a partial sync (docs/internals/spec/iptables.md §11.2)', () => {
  const full = iptablesRules('IPv4', ports, []);
  const present = [...chainsIn(full), 'KUBE-SEP-ABCDEFGHIJKLMNOP'];
  const partial = iptablesRules('IPv4', ports, present, new Set(['shop/cart']));

  it('writes the own chains of Services that changed alone', () => {
    expect(chainsIn(full)).toHaveLength(4);
    expect(linesTo(partial, '10.244.1.1:8080')).toEqual(linesTo(full, '10.244.1.1:8080'));
    expect(linesTo(partial, '10.244.1.2:8080')).toEqual([]);
  });

  it('writes all rules that lead to chains, and removes those that nothing leads to', () => {
    const leading = (input: string) => linesTo(input, '-A KUBE-SERVICES ');
    expect(leading(full)).toHaveLength(3);
    expect(leading(partial)).toEqual(leading(full));
    expect(linesTo(partial, '-X ')).toEqual(['-X KUBE-SEP-ABCDEFGHIJKLMNOP']);
  });
});
