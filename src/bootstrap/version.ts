/** The Kubernetes minor release whose kube-proxy interfaces (flags, configuration, endpoints) this program offers. */
export const KUBERNETES_VERSION = 'v1.36.0';

/** `--version` prints this line, which tools read as they read kube-proxy's. */
export function versionLine(version: string = KUBERNETES_VERSION): string {
  return `Kubernetes ${version}`;
}

/** The one value `showHiddenMetricsForVersion` may have: `<major>.<minor - 1>` of this release. */
export function previousMinorVersion(version: string = KUBERNETES_VERSION): string {
  const [major, minor] = version.slice(1).split('.').map(Number);
  return `${major}.${minor! - 1}`;
}
