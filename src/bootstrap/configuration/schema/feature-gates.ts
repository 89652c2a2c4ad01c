/** A feature gate with an effect here (docs/spec/configuration.md §7). */
interface GateSpec {
  readonly stage: 'alpha' | 'beta' | 'GA';
  /** Its effect here, for the documentation. */
  readonly help: string;
  readonly default: boolean;
  /** The gate cannot be changed. */
  readonly locked?: true;
}

const NO_CHOICE = 'Always on.';
const NOTHING = 'No effect here.';

const GATES = {
  AllAlpha: { stage: 'alpha', default: false, help: 'Sets every alpha gate that is not set by name.' },
  AllBeta: { stage: 'beta', default: false, help: 'Sets every beta gate that is not set by name.' },
  AllowServiceExternalIPs: {
    stage: 'GA',
    default: true,
    help: 'Off: `spec.externalIPs` of Services are not served.',
  },
  ComponentFlagz: { stage: 'beta', default: true, help: '`/flagz` on the metrics server.' },
  ComponentStatusz: { stage: 'beta', default: true, help: '`/statusz` on the metrics server.' },
  ContextualLogging: { stage: 'beta', default: true, help: NOTHING },
  LoggingAlphaOptions: {
    stage: 'alpha',
    default: false,
    help: 'Permits split streams and buffers in `logging.options`.',
  },
  LoggingBetaOptions: { stage: 'beta', default: true, help: NOTHING },
  MultiCIDRServiceAllocator: { stage: 'GA', default: true, locked: true, help: NO_CHOICE },
  NativeHistograms: { stage: 'alpha', default: false, help: NOTHING },
  NFTablesProxyMode: { stage: 'GA', default: true, locked: true, help: NO_CHOICE },
  PreferSameTrafficDistribution: { stage: 'GA', default: true, locked: true, help: NO_CHOICE },
} as const satisfies Record<string, GateSpec>;

export type FeatureGate = keyof typeof GATES;
const featureGateNames = Object.keys(GATES) as readonly FeatureGate[];
/** Whether each gate is on. */
export type FeatureGates = Readonly<Record<FeatureGate, boolean>>;

/** The gates in words, for `--help`. */
export const featureGateHelp = featureGateNames
  .map((name) => {
    const { stage, default: normal }: GateSpec = GATES[name];
    return `${name} (${stage}, ${normal ? 'on' : 'off'})`;
  })
  .join(', ');

/** The gates for the documentation: name, stage, default, effect. */
export function featureGateReference(): readonly (readonly string[])[] {
  return featureGateNames.map((name) => {
    const { stage, default: normal, locked, help }: GateSpec = GATES[name];
    return [`\`${name}\``, stage, `${normal ? 'on' : 'off'}${locked ? ', locked' : ''}`, help];
  });
}

/** One gate as the metric `kubernetes_feature_enabled` shows it: the stage is empty for GA. */
export interface FeatureGateState {
  readonly name: FeatureGate;
  readonly stage: 'ALPHA' | 'BETA' | '';
  readonly enabled: boolean;
}

export function featureGateStates(gates: FeatureGates): readonly FeatureGateState[] {
  return featureGateNames.map((name) => {
    const { stage } = GATES[name];
    return { name, stage: stage === 'GA' ? '' : stage === 'alpha' ? 'ALPHA' : 'BETA', enabled: gates[name] };
  });
}

export interface ResolvedGates {
  readonly gates: FeatureGates;
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Which gates are on. A shared configuration may name gates of other Kubernetes components, so unknown names are ignored
 * with a warning.
 */
export function resolveFeatureGates(requested: Readonly<Record<string, boolean>>): ResolvedGates {
  const warnings: string[] = [];
  const problems: string[] = [];
  const isOn = (name: FeatureGate): boolean => {
    const spec: GateSpec = GATES[name];
    const asked = requested[name];
    if (asked === undefined) return bulk(requested, spec) ?? spec.default;
    if (spec.locked && asked !== spec.default) {
      problems.push(`cannot set feature gate ${name} to ${asked}, feature is locked to ${spec.default}`);
    } else if (spec.stage === 'GA') {
      warnings.push(`setting GA feature gate ${name}=${asked}; it will be removed in a future release`);
    }
    return asked;
  };
  const gates = Object.fromEntries(featureGateNames.map((name) => [name, isOn(name)])) as FeatureGates;
  const unknown = Object.keys(requested).filter((name) => !Object.hasOwn(GATES, name));
  if (unknown.length > 0)
    warnings.push(`ignoring feature gates that have no effect here: ${unknown.join(', ')}`);
  return { gates, warnings, problems };
}

function bulk(requested: Readonly<Record<string, boolean>>, spec: GateSpec): boolean | undefined {
  if (spec.stage === 'GA') return undefined;
  return requested[spec.stage === 'alpha' ? 'AllAlpha' : 'AllBeta'];
}
