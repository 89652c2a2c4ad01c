import type { FeatureGates } from './schema/feature-gates.js';
import type { Configuration, ProxyMode, RequestedMode } from './schema/schema.js';

/** A complete and valid configuration: every default applied, the feature gates resolved. */
export interface ProxyConfiguration extends Configuration {
  readonly gates: FeatureGates;
}

/** The values that exist once for each mode, as they apply to one mode. Periods are milliseconds. */
export interface ModeSettings {
  readonly masqueradeBit: number;
  readonly masqueradeAll: boolean;
  readonly syncPeriod: number;
  /** Undefined: nobody asked for a value, a change is programmed at once. */
  readonly minSyncPeriod: number | undefined;
}

/** Which of the values take effect in a mode (docs/spec/configuration.md §3.1). */
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

/** Defaults that do not wait for the mode (docs/spec/configuration.md §3.2, point 3). */
export function withPlatformDefaults<T extends Configuration>(configuration: T): T {
  return { ...configuration, detectLocalMode: configuration.detectLocalMode || 'ClusterCIDR' };
}

/**
 * Settles the mode, which settles its defaults (docs/spec/configuration.md §3.2, point 2). Whoever resolves an unset mode or
 * `auto` calls this with the answer; a mode that was asked for is settled already.
 */
export function withMode<T extends Configuration>(configuration: T, mode: ProxyMode): T {
  const onlyNodeIPs = mode === 'nftables' && configuration.nodePortAddresses.length === 0;
  return { ...configuration, mode, ...(onlyNodeIPs && { nodePortAddresses: ['primary'] }) };
}

/**
 * An edited configuration, settled where it asks for the mode that is present; what was left open at the start means what
 * it was found to mean then. Where it asks for another mode it stays as it is.
 */
export function withModeAsBefore<T extends Configuration>(
  edited: T,
  askedAtStart: RequestedMode,
  present: ProxyMode,
): T {
  const same = edited.mode === askedAtStart || (edited.mode || 'iptables') === present;
  return same ? withMode(edited, present) : edited;
}

/** The mode of a configuration in which it has been settled by `withMode`. */
export function modeInForce({ mode }: Configuration): ProxyMode {
  if (mode === '' || mode === 'auto') throw new Error('the proxy mode has not been chosen yet');
  return mode;
}
