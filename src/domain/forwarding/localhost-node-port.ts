import type { Endpoint } from '../model/endpoint.js';
import { hostPort, LOCALHOST } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import type { ForwardingEntry } from './forwarding-entry.js';

/** A TCP node port as the proxy itself relays it on localhost (docs/internals/spec/changes-1.37.md §4.1). */
export interface LocalhostNodePort {
  readonly port: number;
  /** Where its connections go. None: nothing listens. */
  readonly endpoints: readonly Endpoint[];
  /** Seconds for which a client keeps its endpoint; 0 without session affinity. */
  readonly affinitySeconds: number;
}

/** Undefined without such a node port. Clients on localhost are no exception to the policy Local, nor bound by source ranges. */
export function localhostNodePort({
  name,
  frontends,
  endpoints: { cluster = [], local = [] },
  affinitySeconds,
}: ForwardingEntry): LocalhostNodePort | undefined {
  if (name.protocol !== 'TCP') return undefined;
  const frontend = frontends.find(({ kind }) => kind === 'node-port');
  return (
    frontend && {
      port: frontend.port,
      endpoints: frontend.policy === 'Local' ? local : cluster,
      affinitySeconds,
    }
  );
}

/** `127.0.0.1:30080`, `[::1]:30080`. */
export function localhostPlace(family: IpFamily, port: number): string {
  return hostPort(LOCALHOST[family], port);
}
