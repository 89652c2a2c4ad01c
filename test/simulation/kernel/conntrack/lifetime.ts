import type { Connection } from './connection.js';
import { IPPROTO, SCTP, STATUS, TCP } from './ctnetlink.js';

const TCP_TIMEOUTS: Readonly<Record<number, string>> = {
  [TCP.SYN_SENT]: 'syn_sent',
  [TCP.SYN_RECV]: 'syn_recv',
  [TCP.ESTABLISHED]: 'established',
  [TCP.TIME_WAIT]: 'time_wait',
};

/** How long a connection lasts after its last packet, in seconds. */
export function lifetime(connection: Connection, sysctls: ReadonlyMap<string, number>): number {
  return sysctls.get(`nf_conntrack_${timeoutName(connection)}`) ?? 60;
}

function timeoutName({ original: { protocol }, state, status }: Connection): string {
  if (protocol === IPPROTO.TCP) return `tcp_timeout_${TCP_TIMEOUTS[state] ?? 'close_wait'}`;
  if (protocol === IPPROTO.SCTP)
    return state === SCTP.COOKIE_WAIT ? 'sctp_timeout_cookie_wait' : 'sctp_timeout_established';
  return (status & STATUS.ASSURED) === 0 ? 'udp_timeout' : 'udp_timeout_stream';
}
