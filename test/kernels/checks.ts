/** What is checked on a kernel, with the column of the support matrix. */
export const CHECKS = {
  start: 'Start',
  contract: 'Backend contract',
  scenarios: 'Recorded scenarios',
  fuzz: 'Fuzz, minutes',
  failover: 'Failover',
  restart: 'Restart',
  takeover: 'Takeover',
  modeChange: 'Mode change',
  cleanUp: 'Clean-up',
  schedulers: 'IPVS schedulers',
} as const;

export type CheckName = keyof typeof CHECKS;

export const FUZZ_MINUTES = 5;

/** The recorded scenarios that every kernel has. */
export const SCENARIOS = [
  ...['churn', 'clusterip-basic', 'dual-stack', 'external-ips', 'internal-local', 'ipv6-only'],
  ...['loadbalancer-source-ranges', 'nodeport-local-policy', 'session-affinity', 'terminating'],
];

/** Ends the name of a series for that processor; others are for x64. */
export const ARM64 = '-arm64';

/** The series that stands for the kernel of this machine. */
export const HERE = 'here';

/** What a guest runs for a check. */
export type Check =
  /** A test file of jest's, below `test`, and a regular expression for the full names of its tests. */
  | { readonly kind: 'test file'; readonly file: string; readonly names: string }
  /** A program of `node:test` (test/kernel/uml/inside), and a regular expression for the names of its tests. */
  | {
      readonly kind: 'program';
      readonly file: string;
      readonly parameters: readonly string[];
      readonly names: string;
    }
  | { readonly kind: 'fuzz'; readonly mode: string };

export type Checks = Readonly<Partial<Record<CheckName, Check>>>;

const tests = (name: string, names = ''): Check => ({
  kind: 'test file',
  file: `test/${name}.test.ts`,
  names,
});
const inside = (name: string, ...parameters: readonly string[]) => ({
  kind: 'program' as const,
  file: `test/kernel/uml/inside/${name}.ts`,
  parameters,
  names: '.',
});
const onIpvsNode = (names: string): Check => ({ ...inside('one-node'), names });
const fuzz = (mode: string): Check => ({ kind: 'fuzz', mode });

const failover = (rules: string): Check =>
  tests('kernel/failover', `over ${rules} (a connection that|an established one)`);

const ofIptables = (variant: string): Checks => ({
  failover: failover(`iptables-${variant}`),
  restart: tests('kernel/restart', `over iptables-${variant} writes nothing`),
  takeover: tests('kernel/iptables-takeover', `: ${variant}( |$)`),
  modeChange: tests('kernel/mode-change', `and iptables-${variant} loses no connection`),
  contract: tests('kernel/backend-contract', `over iptables-${variant} `),
  scenarios: tests('conformance/iptables', `over iptables-${variant} `),
});

/** The checks of each mode. A guest is about ten times slower than the machine, so each check runs only its most informative tests. */
export const MODES: Readonly<Record<string, Checks>> = {
  nftables: {
    restart: tests('kernel/restart', 'a restart after SIGKILL'),
    takeover: tests('kernel/rollback', 'goes back to kube-proxy'),
    cleanUp: tests('kernel/commands', '--cleanup removes'),
    modeChange: tests('kernel/mode-change', 'and iptables-nft loses no connection'),
    failover: failover('nftables'),
    contract: inside('backend-contract', 'nftables'),
    scenarios: tests('conformance/nftables', 'treats packets'),
    fuzz: fuzz('nftables'),
  },
  'iptables-nft': {
    ...ofIptables('nft'),
    cleanUp: tests('kernel/commands', '--cleanup says where'),
    fuzz: fuzz('iptables'),
  },
  'iptables-legacy': { ...ofIptables('legacy'), fuzz: fuzz('iptables-legacy') },
  ipvs: {
    schedulers: inside('schedulers'),
    takeover: inside('take-over'),
    restart: onIpvsNode('by a restart'),
    failover: onIpvsNode('endpoint that goes live on|endpoint is gone and silent'),
    modeChange: onIpvsNode('changes places with mode iptables'),
    cleanUp: onIpvsNode('after a clean-up'),
    contract: inside('backend-contract', 'ipvs'),
    scenarios: inside('conformance'),
    fuzz: fuzz('ipvs'),
  },
};

/** The checks of a mode on a series of kernels, such as `6.12`, or `6.12-arm64` for the other processor. */
export function checksOf(series: string, mode: string): Checks {
  const checks = MODES[mode]!;
  if (series.endsWith(ARM64)) return { start: inside('start', mode) };
  // Programs work in the machine's own network namespace, so they need a guest.
  if (series === HERE)
    return Object.fromEntries(Object.entries(checks).filter(([, { kind }]) => kind !== 'program'));
  if (hasNftables(series)) return checks;
  if (mode === 'nftables') return { start: inside('old-kernel') };
  const { modeChange, ...rest } = checks;
  return mode === 'ipvs' ? checks : rest;
}

function hasNftables(series: string): boolean {
  const [major, minor] = series.split('.').map(Number) as [number, number];
  return major > 5 || (major === 5 && minor >= 13);
}
