import {
  KUBERNETES_VERSIONS,
  LEVELS,
  USUAL_KUBERNETES_VERSION,
  type ChangingGate,
  type GateStage,
  type KubernetesVersion,
} from '../levels.js';

/** A feature gate (docs/spec/configuration.md §7). */
interface GateSpec {
  /** The same in every release; missing: levels.ts has it. */
  readonly always?: GateStage;
  /** Its effect here, for the documentation. */
  readonly help: string;
}

const ALPHA_OFF: GateStage = { stage: 'alpha', default: false };
const BETA_OFF: GateStage = { stage: 'beta', default: false };
const BETA_ON: GateStage = { stage: 'beta', default: true };
const GA_ON: GateStage = { stage: 'GA', default: true };
const GA_LOCKED: GateStage = { ...GA_ON, locked: true };

const NO_CHOICE = 'Always on.';
const NOTHING = 'No effect here.';

const GATES = {
  AllAlpha: { always: ALPHA_OFF, help: 'Sets every alpha gate that is not set by name.' },
  AllBeta: { always: BETA_OFF, help: 'Sets every beta gate that is not set by name.' },
  AllowServiceExternalIPs: { always: GA_ON, help: 'Off: `spec.externalIPs` of Services are not served.' },
  ComponentFlagz: { always: BETA_ON, help: '`/flagz` on the metrics server.' },
  ComponentStatusz: { always: BETA_ON, help: '`/statusz` on the metrics server.' },
  ContextualLogging: { always: BETA_ON, help: NOTHING },
  KubeProxyIPVS: { help: 'Off: mode ipvs is refused at the start.' },
  KubeProxyNFTablesLocalhostNodePorts: {
    help: 'Mode nftables: TCP node ports are served on localhost where `nodePortAddresses` names it; others there are refused and counted (docs/localhost-node-ports.md).',
  },
  LoggingAlphaOptions: {
    always: ALPHA_OFF,
    help: 'Permits split streams and buffers in `logging.options`.',
  },
  LoggingBetaOptions: { always: BETA_ON, help: NOTHING },
  MultiCIDRServiceAllocator: { always: GA_LOCKED, help: NO_CHOICE },
  NativeHistograms: { help: NOTHING },
  NFTablesNetlink: { help: 'No effect here: rules are always read and written over netlink.' },
  NFTablesProxyMode: { always: GA_LOCKED, help: NO_CHOICE },
  PreferSameTrafficDistribution: { always: GA_LOCKED, help: NO_CHOICE },
  RelaxedServiceNameValidation: { help: 'No effect here: names of Services may begin with a digit.' },
} as const satisfies Readonly<Record<string, GateSpec>>;

export type FeatureGate = keyof typeof GATES;
const featureGateNames = Object.keys(GATES) as readonly FeatureGate[];
/** Whether each gate is on; undefined where the release does not know it. */
export type FeatureGates = Readonly<
  Record<Exclude<FeatureGate, ChangingGate>, boolean> & Partial<Record<ChangingGate, boolean>>
>;

/** Undefined where the release does not know the gate. */
function stageOf(name: FeatureGate, version: KubernetesVersion): GateStage | undefined {
  const { always }: GateSpec = GATES[name];
  return always ?? LEVELS[version].gates[name as ChangingGate];
}

/** The gates of a release with their stages. */
function gatesOf(version: KubernetesVersion): readonly (readonly [FeatureGate, GateStage])[] {
  return featureGateNames.flatMap((name) => {
    const stage = stageOf(name, version);
    return stage ? [[name, stage] as const] : [];
  });
}

/** The gates in words, for `--help`. */
export const featureGateHelp = gatesOf(USUAL_KUBERNETES_VERSION)
  .map(([name, { stage, default: normal }]) => `${name} (${stage}, ${normal ? 'on' : 'off'})`)
  .join(', ');

/** The gates for the documentation: name, stage and default in each release, effect. */
export function featureGateReference(): readonly (readonly string[])[] {
  const inRelease = (stage: GateStage | undefined): string =>
    stage ? `${stage.stage}, ${stage.default ? 'on' : 'off'}${stage.locked ? ', locked' : ''}` : '';
  return featureGateNames.map((name) => [
    `\`${name}\``,
    ...KUBERNETES_VERSIONS.map((version) => inRelease(stageOf(name, version))),
    GATES[name].help,
  ]);
}

/** One gate as the metric `kubernetes_feature_enabled` shows it: the stage is empty for GA. */
export interface FeatureGateState {
  readonly name: FeatureGate;
  readonly stage: 'ALPHA' | 'BETA' | 'DEPRECATED' | '';
  readonly enabled: boolean;
}

const SHOWN_STAGES = { alpha: 'ALPHA', beta: 'BETA', deprecated: 'DEPRECATED', GA: '' } as const;

export function featureGateStates(
  gates: FeatureGates,
  version: KubernetesVersion,
): readonly FeatureGateState[] {
  return gatesOf(version).map(([name, { stage }]) => ({
    name,
    stage: SHOWN_STAGES[stage],
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
  const isOn = (name: FeatureGate, stage: GateStage): boolean => {
    const asked = requested[name];
    if (asked === undefined) return bulk(requested, stage) ?? stage.default;
    if (stage.locked && asked !== stage.default) {
      problems.push(`cannot set feature gate ${name} to ${asked}, feature is locked to ${stage.default}`);
    } else if (stage.stage === 'GA' || stage.stage === 'deprecated') {
      warnings.push(
        `setting ${stage.stage} feature gate ${name}=${asked}; it will be removed in a future release`,
      );
    }
    return asked;
  };
  const known = gatesOf(version);
  const gates = Object.fromEntries(known.map(([name, stage]) => [name, isOn(name, stage)])) as FeatureGates;
  const unknown = Object.keys(requested).filter((name) => !Object.hasOwn(gates, name));
  if (unknown.length > 0)
    warnings.push(`ignoring feature gates that have no effect here: ${unknown.join(', ')}`);
  return { gates, warnings, problems };
}

function bulk(requested: Readonly<Record<string, boolean>>, { stage }: GateStage): boolean | undefined {
  if (stage === 'alpha') return requested.AllAlpha;
  return stage === 'beta' ? requested.AllBeta : undefined;
}
