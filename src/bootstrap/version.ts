import type { KubernetesVersion } from './configuration/releases.js';

/** The version of this program: that of its package. */
export const PROGRAM_VERSION = '0.1.0';

/** The commit that this was built from, written into the bundle; empty if unknown. */
const BUILT_FROM = process.env.KUBE_PROXY_TS_COMMIT ?? '';

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
  const fields = {
    Major: major,
    Minor: minor,
    EmulationMajor: major,
    EmulationMinor: minor,
    MinCompatibilityMajor: major,
    MinCompatibilityMinor: String(Number(minor) - 1),
    GitVersion: fullVersion(version),
    GitCommit: BUILT_FROM,
    GitTreeState: '',
    BuildDate: '',
    GoVersion: '',
    Compiler: '',
    Platform: platform(),
  };
  const shown = Object.entries(fields).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${shown.join(', ')}}`;
}

/** @param kubernetes the release as which it behaves, in full */
export function thisVersion(kubernetes: string) {
  return {
    program: PROGRAM_VERSION,
    kubernetes,
    commit: BUILT_FROM,
    nodejs: process.version,
    platform: platform(),
  };
}

/** `linux/amd64`: the operating system and the architecture, as Kubernetes names them. */
function platform(): string {
  const architecture = { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch;
  return `${process.platform}/${architecture}`;
}

/** The one value `showHiddenMetricsForVersion` may have: `<major>.<minor - 1>` of this release. */
export function previousMinorVersion(version: KubernetesVersion): string {
  const [major, minor] = version.split('.').map(Number);
  return `${major}.${minor! - 1}`;
}
