import type { KubernetesVersion } from './configuration/levels.js';

/** The version of this program: that of its package. */
export const PROGRAM_VERSION = '0.1.0';

/** The release of Kubernetes as which the program behaves, in full: `v1.37.0`. */
export function fullVersion(version: KubernetesVersion): string {
  return `v${version}.0`;
}

/** `--version` prints this line, which tools read as they read kube-proxy's. */
export function versionLine(version: KubernetesVersion): string {
  return `Kubernetes ${fullVersion(version)}`;
}

/** `--version=raw` prints this: the structure that kube-proxy prints. */
export function rawVersion(version: KubernetesVersion): string {
  const [major = '', minor = ''] = version.split('.');
  const architecture = { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch;
  const fields = {
    Major: major,
    Minor: minor,
    EmulationMajor: major,
    EmulationMinor: minor,
    MinCompatibilityMajor: major,
    MinCompatibilityMinor: String(Number(minor) - 1),
    GitVersion: fullVersion(version),
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
export function previousMinorVersion(version: KubernetesVersion): string {
  const [major, minor] = version.split('.').map(Number);
  return `${major}.${minor! - 1}`;
}
