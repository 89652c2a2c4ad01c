import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import {
  validateManifests,
  type ManifestFindings,
} from '../../../../src/diagnostics/adapters/cli/commands/validate.js';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'validate-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const service = (name: string, spec: string, ports = 'ports: [{port: 80}]'): string =>
  `---\napiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\nspec:\n  ${ports}\n  ${spec}\n`;
const findings = (files: Readonly<Record<string, string>>, nodePortWarning?: string) => {
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(folder, name), text);
  return validateManifests([folder], (file) => basename(file), undefined, nodePortWarning);
};

const errors = ({ findings: found }: ManifestFindings): readonly string[] =>
  found.map(({ file, line, column, subject, problem }) =>
    [[file, line, column].filter(Boolean).join(':'), subject, problem].filter(Boolean).join(': '),
  );

describe('validateManifests', () => {
  it('finds nothing in what is valid', async () => {
    expect(
      await findings({ 'a.yaml': service('a', 'type: NodePort'), 'b.yml': '', 'c.txt': 'x: [' }),
    ).toEqual({
      fileCount: 2,
      objectCount: 1,
      findings: [],
    });
  });

  it('warns of each Service with node ports, if there is something to warn of', async () => {
    const found = await findings(
      {
        'a.yaml':
          service('a', 'type: NodePort') +
          service('b', 'type: ClusterIP') +
          service('c', 'type: LoadBalancer\n  allocateLoadBalancerNodePorts: false'),
      },
      'they change',
    );
    expect(found.findings).toEqual([
      {
        severity: 'warning',
        file: 'a.yaml',
        line: 7,
        subject: 'Service default/a',
        problem: 'spec.ports: they change',
      },
    ]);
  });

  it('finds all that is wrong in all files, each by file, line and field', async () => {
    const found = await findings({
      'a.yaml':
        service('a', 'type: ClusterIP', 'ports:\n  - {port: 0}\n  - port: 2\n    protocol: udp') +
        service('b', 'sessionAfinity: ClientIP') +
        service('good', 'type: NodePort'),
      'b.yaml': service('c', 'externalTrafficPolicy: local\n  type: Nodeport'),
      'c.yaml': 'kind: [',
      'd.json': JSON.stringify({ apiVersion: 'v2', kind: 'Node', metadata: { name: 'n' } }, null, 2),
      'e.yaml': 'apiVersion: v1\nkind: service\nmetadata: {name: e}\n',
    });
    expect(found.objectCount).toBe(1);
    expect(errors(found)).toEqual([
      'a.yaml:8: Service default/a: spec.ports[0].port: 0 is not a whole number from 1 to 65535',
      'a.yaml:10: Service default/a: spec.ports[1].protocol: "udp" is not one of TCP, UDP, SCTP',
      'a.yaml:8: Service default/a: spec.ports[0].name: is missing; with several ports each needs one',
      'a.yaml:9: Service default/a: spec.ports[1].name: is missing; with several ports each needs one',
      'a.yaml:19: Service default/b: spec.sessionAfinity: is not a field that Kubernetes knows; did you mean sessionAffinity?',
      'b.yaml:8: Service default/c: spec.externalTrafficPolicy: "local" is not one of Cluster, Local',
      'b.yaml:9: Service default/c: spec.type: "Nodeport" is not one of ClusterIP, NodePort, LoadBalancer, ExternalName',
      expect.stringMatching(/^c\.yaml:1:\d+: ./),
      'd.json:2: Node n: apiVersion: "v2" has no Node; it is in v1',
      'e.yaml:2: document 1: kind: "service" is not a kind of Kubernetes; did you mean Service?',
    ]);
  });

  it('finds kinds that no API server knows, and takes others for those of somebody', async () => {
    const object = (apiVersion: string, kind: string) => `---\napiVersion: ${apiVersion}\nkind: ${kind}\n`;
    const found = await findings({
      'a.yaml': object('v1', 'Deployment') + object('apps/v1', 'Deployment') + object('v1', 'ConfigMap'),
      'b.yaml': object('discovery.k8s.io/v1', 'Ingress') + object('networking.k8s.io/v1', 'Ingress'),
      'c.yaml': object('example.com/v1', 'Anything') + '---\nkind: Anything\n',
    });
    expect(errors(found)).toEqual([
      'a.yaml:3: document 1: kind: "Deployment" is not a kind of v1',
      'b.yaml:3: document 1: kind: "Ingress" is not a kind of discovery.k8s.io/v1',
    ]);
  });

  it('finds what two Services cannot both have', async () => {
    const found = await findings({
      'a.yaml':
        service('a', 'clusterIP: 10.96.0.1') +
        service('b', 'type: NodePort', 'ports: [{port: 53, protocol: UDP, nodePort: 30053}]'),
      'b.yaml':
        service('c', 'clusterIP: 10.96.0.1') +
        service('d', 'type: NodePort', 'ports: [{port: 53, protocol: UDP, nodePort: 30053}]') +
        service('e', 'type: NodePort', 'ports: [{port: 53, protocol: TCP, nodePort: 30053}]'),
    });
    expect(found.objectCount).toBe(3);
    expect(errors(found)).toEqual([
      'b.yaml:8: Service default/c: spec.clusterIP: 10.96.0.1 belongs to Service default/a',
      'b.yaml:15: Service default/d: spec.ports[0].nodePort: node port 30053/UDP belongs to Service default/b',
    ]);
  });

  it('finds that, too, where one of them is not valid', async () => {
    const found = await findings({
      'a.yaml':
        service('a', 'clusterIP: 10.96.0.1\n  sessionAfinity: x', 'ports: [{port: 80, nodePort: x}]') +
        service('b', 'clusterIP: 10.96.0.1', 'ports: [{port: 80000, nodePort: x}]'),
    });
    expect(found.objectCount).toBe(0);
    const clashes = errors(found).filter((line) => line.includes('belongs to'));
    expect(clashes).toEqual([
      'a.yaml:17: Service default/b: spec.clusterIP: 10.96.0.1 belongs to Service default/a',
    ]);
  });

  const slice = (name: string, owner: string, ports: string): string =>
    `---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\naddressType: IPv4\nmetadata:\n  name: ${name}\n  labels: {kubernetes.io/service-name: ${owner}}\nports: ${ports}\nendpoints: []\n`;

  it('doubts what leads nowhere, although each object is valid', async () => {
    const found = await findings({
      'a.yaml':
        service('dns', '', 'ports: [{name: dns, port: 53, protocol: UDP}, {name: web, port: 80}]') +
        slice('dns-1', 'dns', '[{name: dns-udp, port: 53, protocol: UDP}, {name: dns, port: 53}]') +
        slice('dns-2', 'dns', '[{name: web, port: 8080}]'),
      'b.yaml': service('one', '') + slice('one-1', 'one', '[{port: 80}]') + slice('lost', 'nobody', '[]'),
    });
    expect(found.findings.map(({ severity }) => severity)).toEqual(['warning', 'warning']);
    expect(errors(found)).toEqual([
      'a.yaml:7: Service default/dns: spec.ports[0].name: no EndpointSlice has a port named dns for UDP (they have: dns for TCP, dns-udp, web for TCP)',
      'b.yaml:24: EndpointSlice default/lost: metadata.labels[kubernetes.io/service-name]: no Service default/nobody is in these manifests',
    ]);
    expect(found.objectCount).toBe(6);
  });

  it('doubts a Service without slices beside slices without a Service', async () => {
    const other = (name: string) => service(name, '').replace('metadata:', 'metadata:\n  namespace: other');
    const endpoints = '---\napiVersion: v1\nkind: Endpoints\nmetadata:\n  name: by-hand\n';
    const found = await findings({
      'a.yaml':
        service('web', 'selector: {app: web}') +
        service('served', '') +
        service('headless', 'clusterIP: None') +
        service('by-hand', '') +
        other('elsewhere'),
      'b.yaml': slice('a', 'wbe', '[{port: 80}]') + slice('b', 'served', '[{port: 80}]') + endpoints,
    });
    expect(errors(found)).toEqual([
      'b.yaml:7: EndpointSlice default/a: metadata.labels[kubernetes.io/service-name]: no Service default/wbe is in these manifests',
      'a.yaml:5: Service default/web: metadata.name: no EndpointSlice has the label kubernetes.io/service-name=web',
    ]);
  });

  it('doubts nothing about slices alone: their Services are elsewhere', async () => {
    expect((await findings({ 'a.yaml': slice('a', 'web', '[]') })).findings).toEqual([]);
  });

  it('doubts external IPs, which later releases do not serve', async () => {
    const found = await findings({ 'a.yaml': service('a', 'externalIPs: [192.0.2.1]') });
    expect(found.findings.map(({ severity }) => severity)).toEqual(['warning']);
    expect(errors(found)[0]).toMatch(
      /^a\.yaml:\d+: Service default\/a: spec\.externalIPs: deprecated: .*AllowServiceExternalIPs.* 1\.43$/,
    );
  });

  it('doubts annotations that the proxy does not understand, each at its line', async () => {
    const annotated = (kind: string, annotation: string) => `  annotations:\n    ${annotation}\n${kind}`;
    const found = await findings({
      'a.yaml': service('a', '').replace('spec:', annotated('spec:', 'kube-proxy-ts/load-balancing: maglef')),
      'b.yaml': service('b', '').replace('spec:', annotated('spec:', 'kube-proxy-ts/wieght: "{}"')),
      'c.yaml':
        service('c', '').replace('spec:', annotated('spec:', 'kube-proxy-ts/load-balancing: maglev')) +
        slice('c-1', 'c', '[{port: 80}]').replace('ports:', annotated('ports:', 'kube-proxy-ts/weight: "x"')),
    });
    expect(found.findings.map(({ severity }) => severity)).toEqual(['warning', 'warning', 'warning']);
    expect(errors(found)).toEqual([
      'a.yaml:7: Service default/a: metadata.annotations[kube-proxy-ts/load-balancing]: "maglef" is none of random, round-robin, least-connections, maglev, maglev-source; ignored, so endpoints are chosen as without it; did you mean maglev?',
      'b.yaml:7: Service default/b: metadata.annotations[kube-proxy-ts/wieght]: is no annotation that the proxy reads on a Service; did you mean kube-proxy-ts/weight?',
      'c.yaml:19: EndpointSlice default/c-1: metadata.annotations[kube-proxy-ts/weight]: "x" is not a whole number from 0 to 1000; ignored, so its endpoints have the weight 1',
    ]);
    expect(found.objectCount).toBe(4);
  });

  it('refuses a path that does not exist', async () => {
    await expect(validateManifests([join(folder, 'gone')])).rejects.toThrow('it does not exist');
  });
});
