import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { validateManifests } from '../../../src/adapters/manifests/validate-manifests.js';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'validate-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const service = (name: string, spec: string, ports = 'ports: [{port: 80}]'): string =>
  `---\napiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\nspec:\n  ${ports}\n  ${spec}\n`;
const findings = (files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(folder, name), text);
  return validateManifests([folder], (file) => basename(file));
};

describe('validateManifests', () => {
  it('finds nothing in what is valid', async () => {
    expect(
      await findings({ 'a.yaml': service('a', 'type: NodePort'), 'b.yml': '', 'c.txt': 'x: [' }),
    ).toEqual({
      files: 2,
      objects: 1,
      problems: [],
    });
  });

  it('finds all that is wrong in all files, each by file, line and field', async () => {
    const { objects, problems } = await findings({
      'a.yaml':
        service('a', 'type: ClusterIP', 'ports:\n  - {port: 0}\n  - port: 2\n    protocol: udp') +
        service('b', 'sessionAfinity: ClientIP') +
        service('good', 'type: NodePort'),
      'b.yaml': service('c', 'externalTrafficPolicy: local\n  type: Nodeport'),
      'c.yaml': 'kind: [',
      'd.json': JSON.stringify({ apiVersion: 'v2', kind: 'Node', metadata: { name: 'n' } }, null, 2),
      'e.yaml': 'apiVersion: v1\nkind: service\nmetadata: {name: e}\n',
    });
    expect(objects).toBe(1);
    expect(problems).toEqual([
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

  it('finds what two Services cannot both have', async () => {
    const { objects, problems } = await findings({
      'a.yaml':
        service('a', 'clusterIP: 10.96.0.1') +
        service('b', 'type: NodePort', 'ports: [{port: 53, protocol: UDP, nodePort: 30053}]'),
      'b.yaml':
        service('c', 'clusterIP: 10.96.0.1') +
        service('d', 'type: NodePort', 'ports: [{port: 53, protocol: UDP, nodePort: 30053}]') +
        service('e', 'type: NodePort', 'ports: [{port: 53, protocol: TCP, nodePort: 30053}]'),
    });
    expect(objects).toBe(3);
    expect(problems).toEqual([
      'b.yaml:8: Service default/c: spec.clusterIP: 10.96.0.1 belongs to Service default/a',
      'b.yaml:15: Service default/d: spec.ports[0].nodePort: node port 30053/UDP belongs to Service default/b',
    ]);
  });

  it('refuses a path that does not exist', async () => {
    await expect(validateManifests([join(folder, 'gone')])).rejects.toThrow('it does not exist');
  });
});
