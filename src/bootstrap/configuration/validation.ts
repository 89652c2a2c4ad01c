import { parseAddress } from '../../domain/net/address.js';
import { parseCidr } from '../../domain/net/cidr.js';
import { isInterfaceName } from '../../domain/node/interface-name.js';
import { previousMinorVersion } from '../version.js';
import { formatDuration } from './duration.js';
import { resolveFeatureGates } from './feature-gates.js';
import { hostPortProblems } from './listen-address.js';
import { loggingProblems } from './logging-validation.js';
import { modeSettings, type ProxyConfiguration } from './proxy-configuration.js';
import { DETECT_LOCAL_MODES, type ProxyMode } from './schema.js';

/** What one rule finds wrong. */
type Rule = (configuration: ProxyConfiguration) => readonly string[];

const ROOT = 'KubeProxyConfiguration';
const CONNTRACK = 'KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration';
const CLUSTER_CIDRS = 'DetectLocalConfiguration.ClusterCIDRs';
const NOT_NEGATIVE = 'must be greater than or equal to 0';
const POSITIVE = 'must be greater than 0';
const VALID_CIDR = 'must be a valid CIDR';
const CIDR_PAIR = 'must be a single CIDR or a dual-stack pair of one IPv4 and one IPv6 CIDR';
const INTERFACE_NAME = 'must be at most 15 bytes of an interface name';
const HIDDEN_METRICS = `must be omitted or have the value '${previousMinorVersion()}'; only the previous minor version is allowed`;

/** The rules of spec/configuration.md §4.2 in their order; the comments give their numbers there. */
const rules: readonly Rule[] = [
  /* 1 */ ({ featureGates }) =>
    resolveFeatureGates(featureGates).problems.map((text) => invalid('featureGates', featureGates, text)),
  /* 2 */ ({ iptables }) =>
    within('KubeProxyIPTablesConfiguration.MasqueradeBit', iptables.masqueradeBit, 0, 31),
  /* 3 */ ({ mode, ipvs }) =>
    mode !== 'ipvs'
      ? []
      : notNegative('KubeProxyIPVSConfiguration', formatDuration, {
          TCPTimeout: ipvs.tcpTimeout,
          TCPFinTimeout: ipvs.tcpFinTimeout,
          UDPTimeout: ipvs.udpTimeout,
        }),
  /* 4 */ ({ mode, ipvs }) =>
    mode === 'ipvs'
      ? ipvs.excludeCIDRs.flatMap(cidr('KubeProxyIPVSConfiguration.ExcludeCidrs', VALID_CIDR))
      : [],
  /* 5 */ (configuration) =>
    possibleModes(configuration).includes('nftables')
      ? within('KubeProxyNFTablesConfiguration.MasqueradeBit', configuration.nftables.masqueradeBit, 0, 31)
      : [],
  /* 6 */ ({ conntrack }) =>
    notNegative(CONNTRACK, Number, { MaxPerCore: conntrack.maxPerCore, Min: conntrack.min }),
  /* 7 */ ({ conntrack }) =>
    notNegative(CONNTRACK, formatDuration, {
      TCPEstablishedTimeout: conntrack.tcpEstablishedTimeout,
      TCPCloseWaitTimeout: conntrack.tcpCloseWaitTimeout,
      UDPTimeout: conntrack.udpTimeout,
      UDPStreamTimeout: conntrack.udpStreamTimeout,
    }),
  /* 8 */ ({ oomScoreAdj }) => within('KubeProxyLinuxConfiguration.OOMScoreAdj', oomScoreAdj, -1000, 1000),
  /* 9 */ ({ mode }) =>
    ['', 'auto', 'iptables', 'ipvs', 'nftables'].includes(mode)
      ? []
      : [
          invalid(
            'Mode.ProxyMode',
            mode,
            'must be iptables, ipvs, nftables or blank (blank means the best-available proxy [currently iptables])',
          ),
        ],
  /* 10 */ ({ clientConnection }) =>
    notNegative('ClientConnection', Number, { Burst: clientConnection.burst }),
  /* 11 */ ({ configSyncPeriod }) => positive('ConfigSyncPeriod', configSyncPeriod),
  /* 12 */ (configuration) =>
    settingsInForce(configuration).flatMap(({ syncPeriod }) => positive('SyncPeriod', syncPeriod)),
  /* 13 */ (configuration) =>
    settingsInForce(configuration).flatMap(({ minSyncPeriod = 0 }) =>
      minSyncPeriod < 0 ? [invalid('MinSyncPeriod', formatDuration(minSyncPeriod), NOT_NEGATIVE)] : [],
    ),
  /* 14 */ (configuration) =>
    settingsInForce(configuration).flatMap(({ syncPeriod, minSyncPeriod = 0 }) =>
      minSyncPeriod > syncPeriod
        ? [
            invalid(
              'SyncPeriod',
              formatDuration(minSyncPeriod),
              'must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod',
            ),
          ]
        : [],
    ),
  /* 15 */ ({ bindAddress }) =>
    parseAddress(bindAddress)
      ? []
      : [invalid('BindAddress', bindAddress, 'not a valid textual representation of an IP address')],
  /* 16 */ ({ healthzBindAddress }) =>
    healthzBindAddress === '' ? [] : listen('HealthzBindAddress', healthzBindAddress),
  /* 17 */ ({ metricsBindAddress }) => listen('MetricsBindAddress', metricsBindAddress),
  /* 18, 19 */ ({ nodePortAddresses }) => {
    const primary = nodePortAddresses.length > 1 ? nodePortAddresses.indexOf('primary') : -1;
    const checked = primary < 0 ? nodePortAddresses : nodePortAddresses.slice(0, primary);
    return [
      ...checked.flatMap((text, index) =>
        text === 'primary' ? [] : cidr('NodePortAddresses', VALID_CIDR)(text, index),
      ),
      ...(primary < 0
        ? []
        : [invalid(`NodePortAddresses[${primary}]`, 'primary', "can't use both 'primary' and CIDRs")]),
    ];
  },
  /* 20 */ ({ showHiddenMetricsForVersion: version }) =>
    version === '' || version === previousMinorVersion()
      ? []
      : [invalid('ShowHiddenMetricsForVersion', version, HIDDEN_METRICS)],
  /* 21 */ ({ detectLocalMode }) =>
    DETECT_LOCAL_MODES.includes(detectLocalMode)
      ? []
      : [
          `${ROOT}.DetectLocalMode: Unsupported value: ${JSON.stringify(detectLocalMode)}: supported values: ` +
            [...DETECT_LOCAL_MODES, ''].map((mode) => JSON.stringify(mode)).join(', '),
        ],
  /* 22 */ ({ detectLocalMode, detectLocal }) =>
    detectLocalMode === 'BridgeInterface' ? interfaceName('InterfaceName', detectLocal.bridgeInterface) : [],
  /* 23 */ ({ detectLocalMode, detectLocal }) =>
    detectLocalMode === 'InterfaceNamePrefix'
      ? interfaceName('InterfacePrefix', detectLocal.interfaceNamePrefix)
      : [],
  /* 24, 25, 26 */ ({ detectLocalMode, clusterCIDR }) => {
    if (detectLocalMode !== 'ClusterCIDR') return [];
    const malformed = clusterCIDR.flatMap(
      cidr(CLUSTER_CIDRS, 'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)'),
    );
    const families = new Set(clusterCIDR.map((text) => parseCidr(text)?.family));
    const tooMany = clusterCIDR.length > 2;
    const samePair = clusterCIDR.length === 2 && malformed.length === 0 && families.size === 1;
    return [
      ...(tooMany ? [invalid(CLUSTER_CIDRS, clusterCIDR, CIDR_PAIR)] : []),
      ...malformed,
      ...(samePair ? [invalid(CLUSTER_CIDRS, clusterCIDR, CIDR_PAIR)] : []),
    ];
  },
  /* 27 */ ({ logging, gates }) => loggingProblems(logging, gates, `${ROOT}.logging`),
];

/** Everything that is wrong with a configuration, in the order of the rules, each `path: Invalid value: value: text`. */
export function validationProblems(configuration: ProxyConfiguration): readonly string[] {
  return rules.flatMap((rule) => rule(configuration));
}

/** Modes of which nobody knows anything are taken for iptables (spec/configuration.md §3.1). */
function possibleModes({ mode }: ProxyConfiguration): readonly ProxyMode[] {
  if (mode === 'nftables' || mode === 'ipvs') return [mode];
  return mode === 'auto' ? ['iptables', 'nftables'] : ['iptables'];
}

function settingsInForce(configuration: ProxyConfiguration) {
  return possibleModes(configuration).map((mode) => modeSettings(configuration, mode));
}

function invalid(path: string, value: unknown, text: string): string {
  return `${ROOT}.${path}: Invalid value: ${JSON.stringify(value)}: ${text}`;
}

function within(path: string, value: number, lowest: number, highest: number): readonly string[] {
  const inside = value >= lowest && value <= highest;
  return inside ? [] : [invalid(path, value, `must be within the range [${lowest}, ${highest}]`)];
}

function notNegative(
  parent: string,
  shown: (value: number) => unknown,
  values: Readonly<Record<string, number>>,
): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    value < 0 ? [invalid(`${parent}.${name}`, shown(value), NOT_NEGATIVE)] : [],
  );
}

function positive(path: string, milliseconds: number): readonly string[] {
  return milliseconds > 0 ? [] : [invalid(path, formatDuration(milliseconds), POSITIVE)];
}

function listen(path: string, address: string): readonly string[] {
  return hostPortProblems(address).map((text) => invalid(path, address, text));
}

function cidr(path: string, text: string) {
  return (value: string, index: number): readonly string[] =>
    parseCidr(value) ? [] : [invalid(`${path}[${index}]`, value, text)];
}

/** Beyond kube-proxy's rules, a name must be one that the kernel could have: it goes into rules as it is. */
function interfaceName(field: string, name: string): readonly string[] {
  const path = `DetectLocalConfiguration.${field}`;
  if (name === '') return [invalid(path, name, 'must not be empty')];
  return isInterfaceName(name) ? [] : [invalid(path, name, INTERFACE_NAME)];
}
