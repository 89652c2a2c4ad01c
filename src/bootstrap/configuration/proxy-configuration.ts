import type { LogSettings } from '../../adapters/process/pino-logger.js';
import { isLoopback, parseAddress } from '../../domain/net/address.js';
import { IP_FAMILIES } from '../../domain/net/ip-family.js';
import { splitHostPort } from '../../domain/net/listen-address.js';
import { nodePortAddressesOf } from '../../domain/node/node-addresses.js';
import { fieldEntries, valueAt, type EditEffect } from './field.js';
import { resolveFeatureGates, type FeatureGates, type KubernetesVersion } from './releases.js';
import { type Configuration, type ProxyMode, type RequestedMode, schema } from './schema.js';

/** A complete and valid configuration: every default applied, the feature gates resolved. */
export interface ProxyConfiguration extends Configuration {
  readonly gates: FeatureGates;
}

/** An object with a configuration, such as a command line. */
export interface Configured {
  readonly configuration: ProxyConfiguration;
}

/** The values that exist once for each mode, as they apply to one mode. Periods are milliseconds. */
export interface ModeSettings {
  readonly masqueradeBit: number;
  readonly masqueradeAll: boolean;
  readonly syncPeriod: number;
  /** Undefined when not configured: a change is programmed immediately. */
  readonly minSyncPeriod: number | undefined;
}

/** The values that take effect in a mode (docs/internals/spec/configuration.md §3.1). */
export function modeSettings(configuration: Configuration, mode: ProxyMode): ModeSettings {
  const { iptables, ipvs, nftables } = configuration;
  switch (mode) {
    case 'iptables':
    case 'userspace':
      return iptables;
    case 'ipvs':
      return { ...iptables, syncPeriod: ipvs.syncPeriod, minSyncPeriod: ipvs.minSyncPeriod };
    case 'nftables':
      return nftables;
  }
}

/** Defaults of this platform (docs/internals/spec/configuration.md §3.2), without those of a mode that is yet to be chosen. */
export function withPlatformDefaults(configuration: Configuration): Configuration {
  const { mode, detectLocalMode } = configuration;
  const completed = { ...configuration, detectLocalMode: detectLocalMode || 'ClusterCIDR' };
  return mode === '' || mode === 'auto' ? completed : withMode(completed, mode);
}

/**
 * Sets the mode and the defaults that depend on it (docs/internals/spec/configuration.md §3.2, point 2). To be called with the chosen
 * mode where it was unset or `auto`; a configuration with an explicit mode has these defaults already.
 */
export function withMode<T extends Configuration>(configuration: T, mode: ProxyMode): T {
  const onlyNodeIPs = mode === 'nftables' && configuration.nodePortAddresses.length === 0;
  return { ...configuration, mode, ...(onlyNodeIPs && { nodePortAddresses: ['primary'] }) };
}

/**
 * An edited configuration, with the defaults of the mode in force if it requests that mode: an unset mode, or
 * `auto`, still means the mode that was chosen at the start. If it requests another mode it is returned unchanged.
 */
export function withModeAsBefore<T extends Configuration>(
  edited: T,
  askedAtStart: RequestedMode,
  present: ProxyMode,
): T {
  const same = edited.mode === askedAtStart || (edited.mode || 'iptables') === present;
  return same ? withMode(edited, present) : edited;
}

/** The mode of a configuration whose mode was set by `withMode`. */
export function modeInForce({ mode }: Configuration): ProxyMode {
  if (mode === '' || mode === 'auto') throw new Error('the proxy mode has not been chosen yet');
  return mode;
}

/** Whether only this machine can reach the metrics server. */
export function isMetricsOnLoopback({ metricsBindAddress }: Configuration): boolean {
  const address = parseAddress(splitHostPort(metricsBindAddress)?.host);
  return address !== undefined && isLoopback(address);
}

/** Whether the page is served: as configured, otherwise where only this machine can reach it. */
export function servesPage(configuration: Configuration): boolean {
  return configuration.page ?? isMetricsOnLoopback(configuration);
}

const LOCALHOST_CHANGES =
  'in nftables mode, with --nodeport-addresses that do not name localhost, node ports are rejected on loopback addresses from Kubernetes 1.38 on; before, they are left alone';

/**
 * The change of node ports on localhost with Kubernetes 1.38, for people. Undefined where there is none: in other modes, where localhost
 * is among the addresses of node ports, and where the feature gate is set.
 */
export function localhostNodePortsChange({
  mode,
  featureGates,
  nodePortAddresses,
}: Pick<ProxyConfiguration, 'mode' | 'featureGates' | 'nodePortAddresses'>): string | undefined {
  const isOn = (release: KubernetesVersion): boolean =>
    resolveFeatureGates(featureGates, release).gates.KubeProxyNFTablesLocalhostNodePorts === true;
  const namesLocalhost =
    nodePortAddresses.includes('localhost') ||
    IP_FAMILIES.some((family) => nodePortAddressesOf(family, nodePortAddresses).explicitLoopback);
  const changes = mode === 'nftables' && !namesLocalhost && !isOn('1.37') && isOn('1.38');
  return changes ? LOCALHOST_CHANGES : undefined;
}

/** The settings of `logging` that the log supports. */
export function logSettings({ logging }: Pick<Configuration, 'logging'>): LogSettings {
  const format = logging.format === 'json' ? 'json' : 'text';
  return { format, verbosity: logging.verbosity, splitStream: logging.options[format].splitStream };
}

/** A field whose value an edit changed, by its path in the file. */
interface EditedField {
  readonly path: string;
  readonly effect: EditEffect;
}

/** The fields in which two configurations differ, and how each edit takes effect; `from` is the one in force. */
export function editedFields(from: Configured, to: Configured): readonly EditedField[] {
  const mode = modeInForce(from.configuration);
  return fieldEntries(schema)
    .filter(([path]) => textAt(from, path) !== textAt(to, path))
    .map(([path, { onEdit, options }]) => {
      const matters = options.modes?.includes(mode) ?? true;
      return { path, effect: matters ? onEdit : 'none' };
    });
}

/** Feature gates are equal when the same ones are on, however they were set. */
function textAt({ configuration }: Configured, path: string): string | undefined {
  return JSON.stringify(path === 'featureGates' ? configuration.gates : valueAt(configuration, path));
}
