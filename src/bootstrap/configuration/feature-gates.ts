/** A feature gate that means something here (spec/configuration.md §7). */
interface GateSpec {
  readonly stage: 'alpha' | 'beta' | 'GA';
  readonly default: boolean;
  /** The gate has its default for good. */
  readonly locked?: true;
}

const GATES = {
  AllowServiceExternalIPs: { stage: 'GA', default: true },
  PreferSameTrafficDistribution: { stage: 'GA', default: true, locked: true },
  MultiCIDRServiceAllocator: { stage: 'GA', default: true, locked: true },
  NFTablesProxyMode: { stage: 'GA', default: true, locked: true },
  ComponentFlagz: { stage: 'beta', default: true },
  ComponentStatusz: { stage: 'beta', default: true },
  ContextualLogging: { stage: 'beta', default: true },
  LoggingBetaOptions: { stage: 'beta', default: true },
  LoggingAlphaOptions: { stage: 'alpha', default: false },
  NativeHistograms: { stage: 'alpha', default: false },
} as const satisfies Record<string, GateSpec>;

export type FeatureGate = keyof typeof GATES;
/** Whether each gate is on. */
export type FeatureGates = Readonly<Record<FeatureGate, boolean>>;

export interface ResolvedGates {
  readonly gates: FeatureGates;
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Turns what was asked for into what is on. Gates of other Kubernetes components may stand in a shared configuration,
 * so names unknown here are ignored with a warning.
 */
export function resolveFeatureGates(requested: Readonly<Record<string, boolean>>): ResolvedGates {
  const warnings: string[] = [];
  const problems: string[] = [];
  const gates = mapGates((name, spec) => {
    const wish = requested[name];
    if (wish === undefined) return bulk(requested, spec) ?? spec.default;
    if (spec.locked && wish !== spec.default) {
      problems.push(`cannot set feature gate ${name} to ${wish}, feature is locked to ${spec.default}`);
    } else if (spec.stage === 'GA') {
      warnings.push(`setting GA feature gate ${name}=${wish}; it will be removed in a future release`);
    }
    return wish;
  });
  const unknown = Object.keys(requested).filter(
    (name) => !(name in GATES) && !/^All(Alpha|Beta)$/.test(name),
  );
  if (unknown.length > 0)
    warnings.push(`ignoring feature gates that have no effect here: ${unknown.join(', ')}`);
  return { gates, warnings, problems };
}

function bulk(requested: Readonly<Record<string, boolean>>, spec: GateSpec): boolean | undefined {
  if (spec.stage === 'GA') return undefined;
  return requested[spec.stage === 'alpha' ? 'AllAlpha' : 'AllBeta'];
}

function mapGates(valueOf: (name: FeatureGate, spec: GateSpec) => boolean): FeatureGates {
  const names = Object.keys(GATES) as FeatureGate[];
  return Object.fromEntries(names.map((name) => [name, valueOf(name, GATES[name])])) as FeatureGates;
}
