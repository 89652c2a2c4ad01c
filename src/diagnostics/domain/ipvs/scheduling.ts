import {
  HASH_SOURCE_PORT,
  PERSISTENT,
  type RealServer,
  type VirtualServer,
} from '../../../domain/ipvs/virtual-server.js';

/** A real server, and the share of new connections that it gets. */
export interface Share {
  readonly realServer: RealServer;
  readonly share: number;
}

/** Schedulers that look at weights only to leave out real servers that have none. */
const UNWEIGHTED: ReadonlySet<string> = new Set(['rr', 'lc', 'lblc', 'lblcr', 'dh', 'nq']);
/** Those that choose by a hash of the client's address. */
const BY_CLIENT: ReadonlySet<string> = new Set(['sh', 'mh']);

/** How connections are shared out in the long run, whatever load there is now. One of weight 0 gets no new connections. */
export function sharesOf({ scheduler }: VirtualServer, realServers: readonly RealServer[]): readonly Share[] {
  const used = realServers.filter(({ weight }) => weight > 0);
  const weightOf = ({ weight }: RealServer) => (UNWEIGHTED.has(scheduler) ? 1 : weight);
  const total = used.reduce((sum, each) => sum + weightOf(each), 0);
  return used.map((realServer) => ({ realServer, share: weightOf(realServer) / total }));
}

/** Whether a client's next connection goes to the same real server. */
export function isSticky({ scheduler, flags }: VirtualServer): boolean {
  if ((flags & PERSISTENT) !== 0 || scheduler === 'dh') return true;
  return BY_CLIENT.has(scheduler) && (flags & HASH_SOURCE_PORT) === 0;
}
