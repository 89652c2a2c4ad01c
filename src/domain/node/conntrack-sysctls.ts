/** The part of the configuration that tunes connection tracking. Durations are milliseconds. */
export interface ConntrackSettings {
  /** Connections for each CPU; 0 leaves the limit alone. */
  readonly maxPerCore: number;
  /** Connections at least, unless the limit is left alone. */
  readonly min: number;
  readonly tcpEstablishedTimeout: number;
  readonly tcpCloseWaitTimeout: number;
  readonly tcpBeLiberal: boolean;
  readonly udpTimeout: number;
  readonly udpStreamTimeout: number;
}

/** A value to set, by its path below /proc/sys. */
export interface Sysctl {
  readonly name: string;
  readonly value: string;
}

const FOLDER = 'net/netfilter/nf_conntrack_';
/** What `maxPerCore` may come to at most; `min` alone may ask for more. */
const SCALED_AT_MOST = 1_048_576;

/** How many connections the kernel shall track; 0: as many as it does (docs/spec/server.md §4). */
export function conntrackMaximum(
  { maxPerCore, min }: Pick<ConntrackSettings, 'maxPerCore' | 'min'>,
  cpus: number,
): number {
  if (maxPerCore <= 0) return 0;
  const scaled = maxPerCore * cpus;
  if (scaled > SCALED_AT_MOST) return SCALED_AT_MOST;
  return Math.max(scaled, min);
}

export function maximumSysctl(maximum: number): Sysctl {
  return { name: `${FOLDER}max`, value: String(maximum) };
}

/** The least number of buckets that keeps look-ups quick with so many connections. */
export function bucketsFor(maximum: number): number {
  return Math.floor(maximum / 4);
}

/** The sysctls besides the maximum, in the order of docs/spec/server.md §4. A timeout below a second writes 0, as there. */
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
