import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { RealServer, VirtualServer, VirtualServerId } from '../../../domain/ipvs/virtual-server.js';

/** A virtual server to walk through. */
export interface WalkedServer {
  readonly server: VirtualServer;
  readonly realServers: readonly RealServer[];
  /** Unknown for what was read from the kernel. */
  readonly servicePort?: ServicePortKey;
}

/** Finds a virtual server; undefined when there is none. */
export type FindServer = (id: VirtualServerId) => WalkedServer | undefined;
