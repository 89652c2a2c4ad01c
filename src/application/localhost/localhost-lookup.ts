import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** Where the proxy itself listens for the node port of a service port: `127.0.0.1:30080`, `[::1]:30080`; undefined if it does not. */
export type LocalhostLookup = (family: IpFamily, key: ServicePortKey) => string | undefined;
