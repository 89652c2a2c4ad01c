import {
  featureGateStates,
  resolveFeatureGates,
} from '../../../../src/bootstrap/configuration/schema/feature-gates.js';

/** The table of docs/spec/configuration.md §7: stage as metrics show it, default, locked. */
const GATES: readonly (readonly [string, 'ALPHA' | 'BETA' | '', boolean, boolean])[] = [
  ['AllAlpha', 'ALPHA', false, false],
  ['AllBeta', 'BETA', false, false],
  ['AllowServiceExternalIPs', '', true, false],
  ['ComponentFlagz', 'BETA', true, false],
  ['ComponentStatusz', 'BETA', true, false],
  ['ContextualLogging', 'BETA', true, false],
  ['LoggingAlphaOptions', 'ALPHA', false, false],
  ['LoggingBetaOptions', 'BETA', true, false],
  ['MultiCIDRServiceAllocator', '', true, true],
  ['NativeHistograms', 'ALPHA', false, false],
  ['NFTablesProxyMode', '', true, true],
  ['PreferSameTrafficDistribution', '', true, true],
];

describe('feature gates (docs/spec/configuration.md §7)', () => {
  it('have their stages and defaults, in the order of their names', () => {
    const { gates, warnings, problems } = resolveFeatureGates({});
    expect(featureGateStates(gates)).toEqual(
      GATES.map(([name, stage, enabled]) => ({ name, stage, enabled })),
    );
    expect([warnings, problems]).toEqual([[], []]);
  });

  it.each(GATES)('%s may be set to its default', (name, stage, normal) => {
    const { warnings, problems } = resolveFeatureGates({ [name]: normal });
    expect(problems).toEqual([]);
    expect(warnings).toHaveLength(stage === '' ? 1 : 0);
  });

  it.each(GATES)('%s may be set to the other value unless it is locked', (name, _stage, normal, locked) => {
    const { gates, problems } = resolveFeatureGates({ [name]: !normal });
    expect(problems).toEqual(
      locked ? [`cannot set feature gate ${name} to ${!normal}, feature is locked to ${normal}`] : [],
    );
    if (!locked) expect(gates).toMatchObject({ [name]: !normal });
  });

  it('gates of other components are let through with one warning', () => {
    const { warnings, problems } = resolveFeatureGates({ KubeletThing: true, constructor: false });
    expect(problems).toEqual([]);
    expect(warnings).toEqual(['ignoring feature gates that have no effect here: KubeletThing, constructor']);
  });
});
