/** The settings of connection tracking. Durations are milliseconds. */
export interface ConntrackSettings {
  /** Connections per CPU; 0 keeps the current limit. */
  readonly maxPerCore: number;
  /** The minimum number of connections, unless the current limit is kept. */
  readonly min: number;
  readonly tcpEstablishedTimeout: number;
  readonly tcpCloseWaitTimeout: number;
  readonly tcpBeLiberal: boolean;
  readonly udpTimeout: number;
  readonly udpStreamTimeout: number;
}

/** A value to set, by its path below /proc/sys. */
interface Sysctl {
  readonly name: string;
  readonly value: string;
}

const FOLDER = 'net/netfilter/nf_conntrack_';
/** The limit of tracked connections. */
export const MAXIMUM_SYSCTL = `${FOLDER}max`;
/** Upper limit for `maxPerCore` times CPUs; only `min` may exceed it. */
const SCALED_AT_MOST = 1_048_576;

/** How many connections the kernel should track; 0: keep its limit (docs/internals/spec/server.md §4). */
export function conntrackMaximum(
  { maxPerCore, min }: Pick<ConntrackSettings, 'maxPerCore' | 'min'>,
  cpus: number,
): number {
  if (maxPerCore <= 0) return 0;
  const scaled = maxPerCore * cpus;
  if (scaled > SCALED_AT_MOST) return SCALED_AT_MOST;
  return Math.max(scaled, min);
}

/**
 * The sysctls besides the maximum, in the order of docs/internals/spec/server.md §4. A timeout below one second is written as 0, as
 * described there.
 */
export function conntrackSysctls(settings: ConntrackSettings): readonly Sysctl[] {
  const seconds = (name: string, milliseconds: number): Sysctl[] =>
    milliseconds > 0 ? [{ name: FOLDER + name, value: String(Math.floor(milliseconds / 1000)) }] : [];
  return [
    ...seconds('tcp_timeout_established', settings.tcpEstablishedTimeout),
    ...seconds('tcp_timeout_close_wait', settings.tcpCloseWaitTimeout),
    ...(settings.tcpBeLiberal ? [{ name: `${FOLDER}tcp_be_liberal`, value: '1' }] : []),
    ...seconds('udp_timeout', settings.udpTimeout),
    ...seconds('udp_timeout_stream', settings.udpStreamTimeout),
  ];
}
