import { formatDuration } from '../../application/words.js';
import { parseAddress } from '../../domain/net/address.js';
import { parseCidr } from '../../domain/net/cidr.js';
import { hostPortProblems } from '../../domain/net/listen-address.js';
import { isInterfaceName } from '../../domain/node/local-traffic-detector.js';
import { NODE_PORT_KEYWORDS } from '../../domain/node/node-addresses.js';
import { parsePortRange } from '../../domain/userspace/port-allocator.js';
import { previousMinorVersion } from '../version.js';
import { modeSettings, type ProxyConfiguration } from './proxy-configuration.js';
import { RELEASES, resolveFeatureGates, type FeatureGates } from './releases.js';
import { DETECT_LOCAL_MODES, PROXY_MODES, type Configuration, type ProxyMode } from './schema.js';

const IPVS = 'KubeProxyIPVSConfiguration';
const CONNTRACK = 'KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration';
const DETECT_LOCAL = 'DetectLocalConfiguration';
const CIDR_PAIR = 'must be a single CIDR or a dual-stack pair of one IPv4 and one IPv6 CIDR';
const CIDR_BLOCK = 'must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)';
const HIGHEST_VERBOSITY = 2 ** 31 - 1;

/**
 * All problems of a configuration, each `path: Invalid value: value: text`, in the order of docs/internals/spec/configuration.md §4.2. The
 * numbers are those of the rules there; our own rules have none.
 */
export function validationProblems(configuration: ProxyConfiguration): readonly string[] {
  const { kubernetesVersion, featureGates, mode, iptables, ipvs, nftables, conntrack } = configuration;
  const { bindAddress, showHiddenMetricsForVersion: shownVersion, gates, portRange } = configuration;
  const modes = possibleModes(mode);
  const settings = modes.map((one) => modeSettings(configuration, one));
  const problems = new Problems('KubeProxyConfiguration');
  // 1
  for (const text of resolveFeatureGates(featureGates, kubernetesVersion).problems)
    problems.invalid('featureGates', featureGates, text);
  // 2: in every mode
  problems.within('KubeProxyIPTablesConfiguration.MasqueradeBit', iptables.masqueradeBit, 0, 31);
  // 3, 4
  if (modes.includes('ipvs')) {
    problems.notNegativeDuration(`${IPVS}.TCPTimeout`, ipvs.tcpTimeout);
    problems.notNegativeDuration(`${IPVS}.TCPFinTimeout`, ipvs.tcpFinTimeout);
    problems.notNegativeDuration(`${IPVS}.UDPTimeout`, ipvs.udpTimeout);
    problems.cidrs(`${IPVS}.ExcludeCidrs`, ipvs.excludeCIDRs);
  }
  // 5
  if (modes.includes('nftables'))
    problems.within('KubeProxyNFTablesConfiguration.MasqueradeBit', nftables.masqueradeBit, 0, 31);
  // 6, 7, 8
  problems.notNegative(`${CONNTRACK}.MaxPerCore`, conntrack.maxPerCore);
  problems.notNegative(`${CONNTRACK}.Min`, conntrack.min);
  problems.notNegativeDuration(`${CONNTRACK}.TCPEstablishedTimeout`, conntrack.tcpEstablishedTimeout);
  problems.notNegativeDuration(`${CONNTRACK}.TCPCloseWaitTimeout`, conntrack.tcpCloseWaitTimeout);
  problems.notNegativeDuration(`${CONNTRACK}.UDPTimeout`, conntrack.udpTimeout);
  problems.notNegativeDuration(`${CONNTRACK}.UDPStreamTimeout`, conntrack.udpStreamTimeout);
  problems.within('KubeProxyLinuxConfiguration.OOMScoreAdj', configuration.oomScoreAdj, -1000, 1000);
  // 9: releases without the gate have IPVS mode
  const available = PROXY_MODES.filter((one) => one !== 'ipvs' || gates.KubeProxyIPVS !== false);
  const words: readonly string[] = ['auto', ...available].sort();
  const modeText = `must be ${words.join(', ')} or blank (blank means the best-available proxy [currently iptables])`;
  problems.require(['', ...words].includes(mode), 'Mode.ProxyMode', mode, modeText);
  // 10, 11
  problems.notNegative('ClientConnection.Burst', configuration.clientConnection.burst);
  problems.positiveDuration('ConfigSyncPeriod', configuration.configSyncPeriod);
  // 12, 13, 14
  for (const { syncPeriod } of settings) problems.positiveDuration('SyncPeriod', syncPeriod);
  for (const { minSyncPeriod = 0 } of settings) problems.notNegativeDuration('MinSyncPeriod', minSyncPeriod);
  for (const { syncPeriod, minSyncPeriod = 0 } of settings) {
    const shortText = 'must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod';
    problems.require(minSyncPeriod <= syncPeriod, 'SyncPeriod', formatDuration(minSyncPeriod), shortText);
  }
  // 15, 16, 17
  const addressText = 'not a valid textual representation of an IP address';
  problems.require(parseAddress(bindAddress) !== undefined, 'BindAddress', bindAddress, addressText);
  problems.hostPort('HealthzBindAddress', configuration.healthzBindAddress);
  problems.hostPort('MetricsBindAddress', configuration.metricsBindAddress);
  // 18, 19
  nodePortAddresses(configuration, problems);
  // 20
  const previous = previousMinorVersion(kubernetesVersion);
  const versionText = `must be omitted or have the value '${previous}'; only the previous minor version is allowed`;
  const isAllowed = ['', previous].includes(shownVersion);
  problems.require(isAllowed, 'ShowHiddenMetricsForVersion', shownVersion, versionText);
  // 21 to 26
  detectLocal(configuration, problems);
  // 27
  problems.texts.push(...loggingProblems(configuration.logging, gates, 'KubeProxyConfiguration.logging'));

  if (modes.includes('userspace')) {
    const rangeText = 'must be a port, LOW-HIGH or LOW+OFFSET, of ports up to 65535';
    problems.require(parsePortRange(portRange) !== undefined, 'PortRange', portRange, rangeText);
    problems.positiveDuration('UDPIdleTimeout', configuration.udpIdleTimeout);
  }
  problems.notNegative('ServiceTrafficMetricsLimit', configuration.serviceTrafficMetricsLimit);
  problems.notNegative('ServiceFrontendsLimit', configuration.serviceFrontendsLimit);
  return problems.texts;
}

/** The problems of the logging configuration (docs/internals/spec/configuration.md §4.2), with paths below `root`. */
export function loggingProblems(
  logging: Configuration['logging'],
  gates: FeatureGates,
  root: string,
): readonly string[] {
  const { flushFrequency, format, verbosity, vmodule, options } = logging;
  const problems = new Problems(root);
  const highest = (path: string, value: number): void =>
    problems.require(value <= HIGHEST_VERBOSITY, path, value, `Must be <= ${HIGHEST_VERBOSITY}`);

  const shownFrequency = formatDuration(flushFrequency);
  problems.require(flushFrequency > 0, 'flushFrequency', shownFrequency, 'Must be greater than zero');
  problems.require(['text', 'json'].includes(format), 'format', format, 'Unsupported log format');
  highest('verbosity', verbosity);
  if (vmodule.length > 0 && format !== 'text')
    problems.add('vmodule', 'Forbidden: Only supported for text log format');
  vmodule.forEach((item, index) => {
    const path = `vmodule[${index}]`;
    if (item.filePattern === '') problems.add(path, 'Required value: File pattern must not be empty');
    const text = 'File pattern must not contain equal sign or comma';
    problems.require(!/[=,]/.test(item.filePattern), path, item.filePattern, text);
    highest(path, item.verbosity);
  });
  if (!gates.LoggingAlphaOptions)
    for (const name of ['text', 'json'] as const) {
      const { splitStream, infoBufferSize } = options[name];
      const forbidden = 'Forbidden: Feature LoggingAlphaOptions is disabled';
      if (splitStream) problems.add(`options.${name}.splitStream`, forbidden);
      if (!/^[+-]?[0.]+(\D.*)?$/.test(infoBufferSize))
        problems.add(`options.${name}.infoBufferSize`, forbidden);
    }
  return problems.texts;
}

/** Collects problems in kube-proxy's words; paths are those of its internal types. */
class Problems {
  readonly texts: string[] = [];

  /** @param root stands before every path */
  constructor(private readonly root: string) {}

  add(path: string, text: string): void {
    this.texts.push(`${this.root}.${path}: ${text}`);
  }

  invalid(path: string, value: unknown, text: string): void {
    this.add(path, `Invalid value: ${JSON.stringify(value)}: ${text}`);
  }

  require(holds: boolean, path: string, value: unknown, text: string): void {
    if (!holds) this.invalid(path, value, text);
  }

  within(path: string, value: number, lowest: number, highest: number): void {
    const text = `must be within the range [${lowest}, ${highest}]`;
    this.require(value >= lowest && value <= highest, path, value, text);
  }

  notNegative(path: string, value: number): void {
    this.require(value >= 0, path, value, 'must be greater than or equal to 0');
  }

  notNegativeDuration(path: string, value: number): void {
    this.require(value >= 0, path, formatDuration(value), 'must be greater than or equal to 0');
  }

  positiveDuration(path: string, value: number): void {
    this.require(value > 0, path, formatDuration(value), 'must be greater than 0');
  }

  /** Empty where nothing is to listen. */
  hostPort(path: string, value: string): void {
    const texts = value === '' ? [] : hostPortProblems(value);
    for (const text of texts) this.invalid(path, value, text);
  }

  cidrs(
    path: string,
    values: readonly string[],
    text = 'must be a valid CIDR',
    keywords: readonly string[] = [],
  ) {
    values.forEach((value, index) =>
      this.require(
        keywords.includes(value) || parseCidr(value) !== undefined,
        `${path}[${index}]`,
        value,
        text,
      ),
    );
  }
}

/** Unknown modes count as iptables (docs/internals/spec/configuration.md §3.1). */
function possibleModes(mode: string): readonly ProxyMode[] {
  if (mode === 'auto') return ['iptables', 'nftables'];
  return [PROXY_MODES.find((one) => one === mode) ?? 'iptables'];
}

/** Rules 18 and 19, and those of later releases (docs/internals/spec/changes-1.37.md §1). */
function nodePortAddresses(
  { nodePortAddresses: values, kubernetesVersion }: ProxyConfiguration,
  problems: Problems,
): void {
  const path = 'NodePortAddresses';
  const isMixed = RELEASES[kubernetesVersion].nodePortAddresses === 'any mix';
  const primary = isMixed || values.length < 2 ? -1 : values.indexOf('primary');
  // Checking ends at a `primary` that is not alone.
  const checked = primary < 0 ? values : values.slice(0, primary);
  problems.cidrs(path, checked, undefined, isMixed ? NODE_PORT_KEYWORDS : ['primary']);
  if (primary >= 0) problems.invalid(`${path}[${primary}]`, 'primary', "can't use both 'primary' and CIDRs");
}

/** Rules 21 to 26. */
function detectLocal(configuration: ProxyConfiguration, problems: Problems): void {
  const { detectLocalMode: mode, detectLocal: given, clusterCIDR } = configuration;
  switch (mode) {
    case 'BridgeInterface':
      return interfaceName(`${DETECT_LOCAL}.InterfaceName`, given.bridgeInterface, problems);
    case 'InterfaceNamePrefix':
      return interfaceName(`${DETECT_LOCAL}.InterfacePrefix`, given.interfaceNamePrefix, problems);
    case 'ClusterCIDR':
      return clusterCidrs(clusterCIDR, problems);
    case 'NodeCIDR':
      return;
    default: {
      const modes = [...DETECT_LOCAL_MODES, ''].map((word) => JSON.stringify(word)).join(', ');
      problems.add(
        'DetectLocalMode',
        `Unsupported value: ${JSON.stringify(mode)}: supported values: ${modes}`,
      );
    }
  }
}

/** Beyond kube-proxy's rules, a name must be one that the kernel could have: it goes into rules unchanged. */
function interfaceName(path: string, name: string, problems: Problems): void {
  if (name === '') problems.invalid(path, name, 'must not be empty');
  else problems.require(isInterfaceName(name), path, name, 'must be at most 15 bytes of an interface name');
}

/** Rules 24 to 26. */
function clusterCidrs(values: readonly string[], problems: Problems): void {
  const path = `${DETECT_LOCAL}.ClusterCIDRs`;
  const families = values.map((text) => parseCidr(text)?.family);
  const isSamePair = values.length === 2 && families[0] !== undefined && families[0] === families[1];
  problems.require(values.length <= 2, path, values, CIDR_PAIR);
  problems.cidrs(path, values, CIDR_BLOCK);
  problems.require(!isSamePair, path, values, CIDR_PAIR);
}
