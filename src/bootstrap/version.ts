/** The version of this program: that of its package. */
export const PROGRAM_VERSION = '0.1.0';

/** The Kubernetes minor release whose kube-proxy interfaces (flags, configuration, endpoints) this program offers. */
export const KUBERNETES_VERSION = 'v1.36.0';

/** `--version` prints this line, which tools read as they read kube-proxy's. */
export function versionLine(version: string = KUBERNETES_VERSION): string {
  return `Kubernetes ${version}`;
}

/** `--version=raw` prints this: the structure that kube-proxy prints. */
export function rawVersion(): string {
  const [major = '', minor = ''] = KUBERNETES_VERSION.slice(1).split('.');
  const architecture = { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch;
  const fields = {
    Major: major,
    Minor: minor,
    EmulationMajor: major,
    EmulationMinor: minor,
    MinCompatibilityMajor: major,
    MinCompatibilityMinor: String(Number(minor) - 1),
    GitVersion: KUBERNETES_VERSION,
    GitCommit: '',
    GitTreeState: '',
    BuildDate: '',
    GoVersion: '',
    Compiler: '',
    Platform: `${process.platform}/${architecture}`,
  };
  const shown = Object.entries(fields).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${shown.join(', ')}}`;
}

/** The one value `showHiddenMetricsForVersion` may have: `<major>.<minor - 1>` of this release. */
export function previousMinorVersion(version: string = KUBERNETES_VERSION): string {
  const [major, minor] = version.slice(1).split('.').map(Number);
  return `${major}.${minor! - 1}`;
}
