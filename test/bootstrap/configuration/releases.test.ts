import { KUBERNETES_VERSIONS } from '../../../src/bootstrap/configuration/releases.js';
import { featureGateStates, resolveFeatureGates } from '../../../src/bootstrap/configuration/releases.js';

type Row = readonly [
  name: string,
  stage: 'ALPHA' | 'BETA' | 'DEPRECATED' | '',
  normal: boolean,
  locked: boolean,
];

/** The gates that every release has (docs/internals/spec/configuration.md §7): stage as metrics show it, default, locked. */
const ALWAYS: readonly Row[] = [
  ['AllAlpha', 'ALPHA', false, false],
  ['AllBeta', 'BETA', false, false],
  ['AllowServiceExternalIPs', '', true, false],
  ['ComponentFlagz', 'BETA', true, false],
  ['ComponentStatusz', 'BETA', true, false],
  ['ContextualLogging', 'BETA', true, false],
  ['LoggingAlphaOptions', 'ALPHA', false, false],
  ['LoggingBetaOptions', 'BETA', true, false],
  ['MultiCIDRServiceAllocator', '', true, true],
  ['NFTablesProxyMode', '', true, true],
  ['PreferSameTrafficDistribution', '', true, true],
];

/** The others (docs/internals/spec/changes-1.37.md §1.2). */
const CHANGING: Readonly<Record<(typeof KUBERNETES_VERSIONS)[number], readonly Row[]>> = {
  '1.36': [
    ['NativeHistograms', 'ALPHA', false, false],
    ['RelaxedServiceNameValidation', 'BETA', true, false],
  ],
  '1.37': [
    ['KubeProxyIPVS', 'DEPRECATED', true, false],
    ['KubeProxyNFTablesLocalhostNodePorts', 'ALPHA', false, false],
    ['NativeHistograms', 'BETA', true, false],
    ['NFTablesNetlink', 'BETA', true, false],
    ['RelaxedServiceNameValidation', '', true, true],
  ],
  '1.38': [
    ['KubeProxyIPVS', 'DEPRECATED', true, false],
    ['KubeProxyNFTablesLocalhostNodePorts', 'BETA', true, false],
    ['NativeHistograms', 'BETA', true, false],
    ['NFTablesNetlink', 'BETA', true, false],
    ['RelaxedServiceNameValidation', '', true, true],
  ],
};

describe.each(KUBERNETES_VERSIONS)('feature gates of %s', (version) => {
  const rows = [...ALWAYS, ...CHANGING[version]];

  it('have their stages and defaults', () => {
    const { gates, warnings, problems } = resolveFeatureGates({}, version);
    const states = featureGateStates(gates, version);
    expect(states).toHaveLength(rows.length);
    expect(states).toEqual(
      expect.arrayContaining(rows.map(([name, stage, enabled]) => ({ name, stage, enabled }))),
    );
    expect([warnings, problems]).toEqual([[], []]);
  });

  it.each(rows)('%s may be set to its default', (name, stage, normal) => {
    const { warnings, problems } = resolveFeatureGates({ [name]: normal }, version);
    expect(problems).toEqual([]);
    const settled = { '': 'GA', DEPRECATED: 'deprecated', ALPHA: undefined, BETA: undefined }[stage];
    expect(warnings).toEqual(
      settled
        ? [`setting ${settled} feature gate ${name}=${normal}; it will be removed in a future release`]
        : [],
    );
  });

  it.each(rows)('%s may be set to the other value unless it is locked', (name, _stage, normal, locked) => {
    const { gates, problems } = resolveFeatureGates({ [name]: !normal }, version);
    expect(problems).toEqual(
      locked ? [`cannot set feature gate ${name} to ${!normal}, feature is locked to ${normal}`] : [],
    );
    if (!locked) expect(gates).toMatchObject({ [name]: !normal });
  });

  it('that are deprecated or GA are not switched in bulk', () => {
    const { gates } = resolveFeatureGates({ AllAlpha: true, AllBeta: false }, version);
    for (const [name, stage, normal] of rows)
      expect(gates).toHaveProperty(name, { ALPHA: true, BETA: false, DEPRECATED: normal, '': normal }[stage]);
  });

  it('gates of other components are let through with one warning', () => {
    const { warnings, problems } = resolveFeatureGates({ KubeletThing: true, constructor: false }, version);
    expect(problems).toEqual([]);
    expect(warnings).toEqual(['ignoring feature gates that have no effect here: KubeletThing, constructor']);
  });
});

it('a gate that a release does not know is that of another component', () => {
  const { gates, warnings } = resolveFeatureGates({ KubeProxyIPVS: false }, '1.36');
  expect(gates).not.toHaveProperty('KubeProxyIPVS');
  expect(warnings).toEqual(['ignoring feature gates that have no effect here: KubeProxyIPVS']);
});
