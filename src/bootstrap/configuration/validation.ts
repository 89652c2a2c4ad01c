import { parseCidr } from '../../domain/net/cidr.js';
import { isInterfaceName } from '../../domain/node/local-traffic-detector.js';
import { formatDuration } from '../../application/words/duration.js';
import { resolveFeatureGates } from './schema/feature-gates.js';
import { fieldEntries, valueAt } from './schema/field.js';
import { cidrProblem, invalid } from './schema/field-rule.js';
import { loggingProblems } from './logging-validation.js';
import { nodePortAddressesProblems } from './node-port-addresses-validation.js';
import { previousMinorVersion } from '../version.js';
import { modeSettings, type ProxyConfiguration } from './proxy-configuration.js';
import { PROXY_MODES, schema, type ProxyMode } from './schema/schema.js';

/** A rule of docs/spec/configuration.md §4.2 about more than one field, by its number there. */
interface Rule {
  readonly number: number;
  problems(configuration: ProxyConfiguration): readonly string[];
}

const CLUSTER_CIDRS = 'DetectLocalConfiguration.ClusterCIDRs';
const CIDR_PAIR = 'must be a single CIDR or a dual-stack pair of one IPv4 and one IPv6 CIDR';
const INTERFACE_NAME = 'must be at most 15 bytes of an interface name';
const LONG_MIN_PERIOD = 'must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod';

/** The rules of a single field are in the schema. */
const rules: readonly Rule[] = [
  {
    number: 1,
    problems: ({ featureGates, kubernetesVersion }) =>
      resolveFeatureGates(featureGates, kubernetesVersion).problems.map((text) =>
        invalid('featureGates', featureGates, text),
      ),
  },
  { number: 9, problems: modeProblems },
  {
    number: 14,
    problems: (configuration) =>
      possibleModes(configuration)
        .map((mode) => modeSettings(configuration, mode))
        .filter(({ syncPeriod, minSyncPeriod = 0 }) => minSyncPeriod > syncPeriod)
        .map(({ minSyncPeriod = 0 }) =>
          invalid('SyncPeriod', formatDuration(minSyncPeriod), LONG_MIN_PERIOD),
        ),
  },
  {
    number: 22,
    problems: ({ detectLocalMode, detectLocal }) =>
      detectLocalMode === 'BridgeInterface'
        ? interfaceName('InterfaceName', detectLocal.bridgeInterface)
        : [],
  },
  {
    number: 23,
    problems: ({ detectLocalMode, detectLocal }) =>
      detectLocalMode === 'InterfaceNamePrefix'
        ? interfaceName('InterfacePrefix', detectLocal.interfaceNamePrefix)
        : [],
  },
  {
    number: 18,
    problems: ({ nodePortAddresses, kubernetesVersion }) =>
      nodePortAddressesProblems(nodePortAddresses, kubernetesVersion),
  },
  {
    number: 20,
    problems({ showHiddenMetricsForVersion: asked, kubernetesVersion }) {
      const previous = previousMinorVersion(kubernetesVersion);
      const text = `must be omitted or have the value '${previous}'; only the previous minor version is allowed`;
      return ['', previous].includes(asked) ? [] : [invalid('ShowHiddenMetricsForVersion', asked, text)];
    },
  },
  { number: 24, problems: clusterCidrs },
  {
    number: 27,
    problems: ({ logging, gates }) => loggingProblems(logging, gates, 'KubeProxyConfiguration.logging'),
  },
];

/** All problems of a configuration, in the order of the rules, each `path: Invalid value: value: text`. */
export function validationProblems(configuration: ProxyConfiguration): readonly string[] {
  return [...rules, ...fieldRules(possibleModes(configuration))]
    .sort((one, other) => one.number - other.number)
    .flatMap((rule) => rule.problems(configuration));
}

function fieldRules(modes: readonly ProxyMode[]): readonly Rule[] {
  return fieldEntries(schema).flatMap(([path, { options }]): readonly Rule[] => {
    const { rule, modes: known } = options;
    const applies = rule?.inEveryMode || known === undefined || modes.some((mode) => known.includes(mode));
    if (!rule || !applies) return [];
    const { number } = rule;
    return [{ number, problems: (configuration) => rule.problems(valueAt(configuration, path)) }];
  });
}

/** Mode ipvs is none of them without its feature gate; releases that do not know the gate have the mode. */
function modeProblems({ mode, gates }: ProxyConfiguration): readonly string[] {
  const modes = PROXY_MODES.filter((one) => one !== 'ipvs' || gates.KubeProxyIPVS !== false);
  const words: readonly string[] = ['auto', ...modes].sort();
  const text = `must be ${words.join(', ')} or blank (blank means the best-available proxy [currently iptables])`;
  return ['', ...words].includes(mode) ? [] : [invalid('Mode.ProxyMode', mode, text)];
}

/** Unknown modes count as iptables (docs/spec/configuration.md §3.1). */
function possibleModes({ mode }: ProxyConfiguration): readonly ProxyMode[] {
  if (mode === 'nftables' || mode === 'ipvs' || mode === 'userspace') return [mode];
  return mode === 'auto' ? ['iptables', 'nftables'] : ['iptables'];
}

/** Rules 24 to 26. */
function clusterCidrs({ detectLocalMode, clusterCIDR }: ProxyConfiguration): readonly string[] {
  if (detectLocalMode !== 'ClusterCIDR') return [];
  const malformed = clusterCIDR.flatMap((value, index) =>
    cidrProblem(
      CLUSTER_CIDRS,
      value,
      index,
      'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)',
    ),
  );
  const families = new Set(clusterCIDR.map((text) => parseCidr(text)?.family));
  const tooMany = clusterCIDR.length > 2;
  const samePair = clusterCIDR.length === 2 && malformed.length === 0 && families.size === 1;
  return [
    ...(tooMany ? [invalid(CLUSTER_CIDRS, clusterCIDR, CIDR_PAIR)] : []),
    ...malformed,
    ...(samePair ? [invalid(CLUSTER_CIDRS, clusterCIDR, CIDR_PAIR)] : []),
  ];
}

/** Beyond kube-proxy's rules, a name must be one that the kernel could have: it goes into rules as it is. */
function interfaceName(field: string, name: string): readonly string[] {
  const path = `DetectLocalConfiguration.${field}`;
  if (name === '') return [invalid(path, name, 'must not be empty')];
  return isInterfaceName(name) ? [] : [invalid(path, name, INTERFACE_NAME)];
}
