/** Every minor release of Kubernetes that the program can behave as. */
export const KUBERNETES_VERSIONS = ['1.36', '1.37', '1.38'] as const;
export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];
/** The one that counts unless another is requested. */
export const USUAL_KUBERNETES_VERSION: KubernetesVersion = '1.37';

/** The first release that is followed where an API server has it and no other is configured. */
const FOLLOWED_SINCE: KubernetesVersion = '1.38';

/**
 * The release to behave as, by that of the API server; undefined: the usual one. Releases that are newer than all that are known count as
 * the newest of these.
 */
export function releaseOfServer({ major, minor }: ServerVersion): KubernetesVersion | undefined {
  // Some distributions write `38+`.
  const number = major === '1' ? Number.parseInt(minor, 10) : NaN;
  const numberOf = (version: KubernetesVersion): number => Number(version.split('.')[1]);
  if (!(number >= numberOf(FOLLOWED_SINCE))) return undefined;
  return KUBERNETES_VERSIONS.findLast((version) => numberOf(version) <= number);
}

/** What an API server answers to `/version`, as far as it is read. */
export interface ServerVersion {
  readonly major: string;
  readonly minor: string;
}

/** Differences between releases, besides the stages of feature gates (docs/internals/spec/changes-1.37.md). */
interface Release {
  /** Allowed values of `nodePortAddresses`: CIDRs or else `primary`, or both and further keywords. */
  readonly nodePortAddresses: 'primary or CIDRs' | 'any mix';
  /** The warning in nftables mode about loopback addresses among them; missing: none. */
  readonly loopbackInNftables?: string;
  /** The warning in IPVS mode. */
  readonly ipvsEnds: string;
  /** The warning if no mode is configured; missing: none. */
  readonly modeUnset?: string;
  /** A line of the log in iptables mode, if it is configured; missing: none. */
  readonly iptablesEnds?: string;
  /** A line above the text of `/flagz`; missing: none. */
  readonly flagzNote?: string;
}

const SINCE_1_37: Release = {
  nodePortAddresses: 'any mix',
  ipvsEnds:
    'The ipvs proxier has been deprecated and will be disabled by default in Kubernetes 1.40 and removed in Kubernetes 1.43. ' +
    "Migrate to the 'nftables' proxier instead.",
  // kube-proxy's own words are not known.
  modeUnset:
    'No proxy mode is configured, which means iptables, but nftables from Kubernetes 1.40 on. Set --proxy-mode to nftables, or to ' +
    'iptables to stay with it.',
};

export const RELEASES: Readonly<Record<KubernetesVersion, Release>> = {
  '1.36': {
    nodePortAddresses: 'primary or CIDRs',
    ipvsEnds:
      "The ipvs proxier is now deprecated and may be removed in a future release. Please use 'nftables' instead.",
    loopbackInNftables: '--nodeport-addresses includes localhost but localhost NodePorts are not supported',
  },
  '1.37': SINCE_1_37,
  '1.38': {
    ...SINCE_1_37,
    iptablesEnds:
      "Kubernetes 1.40 makes 'nftables' the default proxy mode instead of 'iptables'. No release has been announced that removes 'iptables'.",
    flagzNote:
      'These are the values of flags, or their defaults. A configuration file may override them: see /configz for the configuration in effect.',
  },
};

/** The stage and the default of a feature gate. */
interface GateStage {
  readonly stage: 'alpha' | 'beta' | 'GA' | 'deprecated';
  readonly default: boolean;
  /** The gate cannot be changed. */
  readonly locked?: true;
}

/** A feature gate (docs/internals/spec/configuration.md §7). */
interface GateSpec {
  /** Its effect here, for the documentation. */
  readonly help: string;
  /** Its stage from a release on; releases before the first do not have the gate. */
  readonly since: Readonly<Partial<Record<KubernetesVersion, GateStage>>>;
}

const ALPHA_OFF: GateStage = { stage: 'alpha', default: false };
const BETA_OFF: GateStage = { stage: 'beta', default: false };
const BETA_ON: GateStage = { stage: 'beta', default: true };
const GA_ON: GateStage = { stage: 'GA', default: true };
const GA_LOCKED: GateStage = { ...GA_ON, locked: true };

const GATES = {
  AllAlpha: gate({ '1.36': ALPHA_OFF }, 'Sets every alpha gate that is not set by name.'),
  AllBeta: gate({ '1.36': BETA_OFF }, 'Sets every beta gate that is not set by name.'),
  AllowServiceExternalIPs: gate({ '1.36': GA_ON }, 'Off: `spec.externalIPs` of Services are not served.'),
  ComponentFlagz: gate({ '1.36': BETA_ON }, '`/flagz` on the metrics server.'),
  ComponentStatusz: gate({ '1.36': BETA_ON }, '`/statusz` on the metrics server.'),
  ContextualLogging: gate({ '1.36': BETA_ON }),
  KubeProxyIPVS: gate(
    { '1.37': { stage: 'deprecated', default: true } },
    'Off: IPVS mode is rejected at the start.',
  ),
  KubeProxyNFTablesLocalhostNodePorts: gate(
    { '1.37': ALPHA_OFF, '1.38': BETA_ON },
    'nftables mode: TCP node ports are served on localhost where `nodePortAddresses` names it; others there are rejected and counted (docs/configuration/localhost-node-ports.md).',
  ),
  LoggingAlphaOptions: gate({ '1.36': ALPHA_OFF }, 'Permits split streams and buffers in `logging.options`.'),
  LoggingBetaOptions: gate({ '1.36': BETA_ON }),
  MultiCIDRServiceAllocator: gate({ '1.36': GA_LOCKED }, 'Always on.'),
  NativeHistograms: gate({ '1.36': ALPHA_OFF, '1.37': BETA_ON }),
  NFTablesNetlink: gate(
    { '1.37': BETA_ON },
    'No effect here: rules are always read and written over netlink.',
  ),
  NFTablesProxyMode: gate({ '1.36': GA_LOCKED }, 'Always on.'),
  PreferSameTrafficDistribution: gate({ '1.36': GA_LOCKED }, 'Always on.'),
  RelaxedServiceNameValidation: gate(
    { '1.36': BETA_ON, '1.37': GA_LOCKED },
    'No effect here: names of Services may begin with a digit.',
  ),
};

export type FeatureGate = keyof typeof GATES;
/** Whether each gate is on; missing if the release does not have it. */
export type FeatureGates = Readonly<Partial<Record<FeatureGate, boolean>>>;

/** The gates in words, for `--help`. */
export const featureGateHelp = gatesOf(USUAL_KUBERNETES_VERSION)
  .map(([name, { stage, default: normal }]) => `${name} (${stage}, ${normal ? 'on' : 'off'})`)
  .join(', ');

/** The gates for the documentation: name, stage and default in each release, effect. */
export function featureGateReference(): readonly (readonly string[])[] {
  const inRelease = (stage: GateStage | undefined): string =>
    stage ? `${stage.stage}, ${stage.default ? 'on' : 'off'}${stage.locked ? ', locked' : ''}` : '';
  return Object.entries(GATES).map(([name, spec]) => [
    `\`${name}\``,
    ...KUBERNETES_VERSIONS.map((version) => inRelease(stageOf(spec, version))),
    spec.help,
  ]);
}

/** The gates of a release as the metric `kubernetes_feature_enabled` shows them: the stage is empty for GA. */
export function featureGateStates(gates: FeatureGates, version: KubernetesVersion) {
  return gatesOf(version).map(([name, { stage }]) => ({
    name,
    stage: stage === 'GA' ? '' : stage.toUpperCase(),
    enabled: gates[name] ?? false,
  }));
}

export interface ResolvedGates {
  readonly gates: FeatureGates;
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Which gates are on. A shared configuration may name gates of other Kubernetes components, so names that this release does not
 * know are ignored with a warning.
 */
export function resolveFeatureGates(
  requested: Readonly<Record<string, boolean>>,
  version: KubernetesVersion,
): ResolvedGates {
  const warnings: string[] = [];
  const problems: string[] = [];
  const bulk: Readonly<Record<string, boolean | undefined>> = {
    alpha: requested.AllAlpha,
    beta: requested.AllBeta,
  };
  const isOn = (name: FeatureGate, { stage, default: normal, locked }: GateStage): boolean => {
    const asked = requested[name];
    if (asked === undefined) return bulk[stage] ?? normal;
    if (locked && asked !== normal) {
      problems.push(`cannot set feature gate ${name} to ${asked}, feature is locked to ${normal}`);
    } else if (stage === 'GA' || stage === 'deprecated') {
      warnings.push(`setting ${stage} feature gate ${name}=${asked}; it will be removed in a future release`);
    }
    return asked;
  };
  const gates: FeatureGates = Object.fromEntries(
    gatesOf(version).map(([name, stage]) => [name, isOn(name, stage)]),
  );
  const unknown = Object.keys(requested).filter((name) => !Object.hasOwn(gates, name));
  if (unknown.length > 0)
    warnings.push(`ignoring feature gates that have no effect here: ${unknown.join(', ')}`);
  return { gates, warnings, problems };
}

function gate(since: GateSpec['since'], help = 'No effect here.'): GateSpec {
  return { since, help };
}

/** Undefined if the release does not have the gate. */
function stageOf({ since }: GateSpec, version: KubernetesVersion): GateStage | undefined {
  const until = KUBERNETES_VERSIONS.slice(0, KUBERNETES_VERSIONS.indexOf(version) + 1);
  return until.map((one) => since[one]).findLast((stage) => stage !== undefined);
}

/** The gates of a release with their stages. */
function gatesOf(version: KubernetesVersion): readonly (readonly [FeatureGate, GateStage])[] {
  return (Object.keys(GATES) as readonly FeatureGate[]).flatMap((name) => {
    const stage = stageOf(GATES[name], version);
    return stage ? [[name, stage] as const] : [];
  });
}
