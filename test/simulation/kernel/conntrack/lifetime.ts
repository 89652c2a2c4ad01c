import type { Connection } from './connection.js';
import { IPPROTO, SCTP, STATUS, TCP } from './ctnetlink.js';

const TCP_TIMEOUTS: Readonly<Record<number, string>> = {
  [TCP.SYN_SENT]: 'nf_conntrack_tcp_timeout_syn_sent',
  [TCP.SYN_RECV]: 'nf_conntrack_tcp_timeout_syn_recv',
  [TCP.ESTABLISHED]: 'nf_conntrack_tcp_timeout_established',
  [TCP.TIME_WAIT]: 'nf_conntrack_tcp_timeout_time_wait',
};

/** How long a connection lasts after its last packet, in seconds. */
export function lifetime(connection: Connection, sysctls: ReadonlyMap<string, number>): number {
  return sysctls.get(timeoutName(connection)) ?? 60;
}

function timeoutName({ original: { protocol }, state, status }: Connection): string {
  if (protocol === IPPROTO.TCP) return TCP_TIMEOUTS[state] ?? 'nf_conntrack_tcp_timeout_close_wait';
  if (protocol === IPPROTO.SCTP)
    return state === SCTP.COOKIE_WAIT
      ? 'nf_conntrack_sctp_timeout_cookie_wait'
      : 'nf_conntrack_sctp_timeout_established';
  return (status & STATUS.ASSURED) === 0 ? 'nf_conntrack_udp_timeout' : 'nf_conntrack_udp_timeout_stream';
}
