import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { validateManifests } from '../../../src/adapters/manifests/validate-manifests.js';

let folder: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'validate-'));
});
afterEach(() => fs.rmSync(folder, { recursive: true }));

const service = (name: string, spec: string): string =>
  `---\napiVersion: v1\nkind: Service\nmetadata:\n  name: ${name}\nspec:\n  clusterIP: 10.96.0.1\n  ${spec}\n`;
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
      'a.yaml': service('a', 'ports:\n  - {port: 1}\n  - port: 2\n    protocol: udp') + service('b', 'x: y'),
      'b.yaml': service('c', 'externalTrafficPolicy: local\n  type: Nodeport'),
      'c.yaml': 'kind: [',
      'd.json': JSON.stringify({ apiVersion: 'v2', kind: 'Node', metadata: { name: 'n' } }, null, 2),
    });
    expect(objects).toBe(1);
    expect(problems).toEqual([
      'a.yaml:11: Service default/a: spec.ports[1].protocol: "udp" is not TCP, UDP or SCTP',
      'b.yaml:9: Service default/c: spec.type: "Nodeport" is not one of ClusterIP, NodePort, LoadBalancer, ExternalName',
      'b.yaml:8: Service default/c: spec.externalTrafficPolicy: "local" is not one of Cluster, Local',
      expect.stringMatching(/^c\.yaml:1:\d+: ./),
      'd.json:2: Node n: apiVersion: "v2" has no Node; it is in v1',
    ]);
  });

  it('refuses a path that does not exist', async () => {
    await expect(validateManifests([join(folder, 'gone')])).rejects.toThrow('it does not exist');
  });
});
