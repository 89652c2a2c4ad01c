import type { FeatureGates } from './schema/feature-gates.js';
import type { Configuration, ProxyMode, RequestedMode } from './schema/schema.js';

/** A complete and valid configuration: every default applied, the feature gates resolved. */
export interface ProxyConfiguration extends Configuration {
  readonly gates: FeatureGates;
}

/** Whatever has a configuration, as a command line. */
export interface Configured {
  readonly configuration: ProxyConfiguration;
}

/** The values that exist once for each mode, as they apply to one mode. Periods are milliseconds. */
export interface ModeSettings {
  readonly masqueradeBit: number;
  readonly masqueradeAll: boolean;
  readonly syncPeriod: number;
  /** Undefined when not configured: a change is programmed at once. */
  readonly minSyncPeriod: number | undefined;
}

/** The values that take effect in a mode (docs/spec/configuration.md §3.1). */
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

/** Defaults that do not depend on the mode (docs/spec/configuration.md §3.2, point 3). */
export function withPlatformDefaults<T extends Configuration>(configuration: T): T {
  return { ...configuration, detectLocalMode: configuration.detectLocalMode || 'ClusterCIDR' };
}

/**
 * Sets the mode and the defaults that depend on it (docs/spec/configuration.md §3.2, point 2). To be called with the chosen
 * mode where it was unset or `auto`; a configuration with an explicit mode has these defaults already.
 */
export function withMode<T extends Configuration>(configuration: T, mode: ProxyMode): T {
  const onlyNodeIPs = mode === 'nftables' && configuration.nodePortAddresses.length === 0;
  return { ...configuration, mode, ...(onlyNodeIPs && { nodePortAddresses: ['primary'] }) };
}

/**
 * An edited configuration, with the defaults of the mode in force if that is the mode it asks for: an unset mode, or
 * `auto`, still means the mode that was chosen at the start. If it asks for another mode it is returned as it is.
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
