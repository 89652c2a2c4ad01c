import type { Protocol, ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { EndpointExplanation, FrontendExplanation, PortStatus } from './explanation.js';

/** What an address, a port, or both are to the proxy. */
export interface AddressExplanation {
  /** As it was asked for, canonical: `10.96.0.80:80/TCP`, `10.244.2.11`, `30080`. */
  readonly subject: string;
  /** The frontends that it is. */
  readonly frontends: readonly FrontendMatch[];
  /** The endpoints that it is. */
  readonly endpoints: readonly EndpointMatch[];
  /** What becomes of packets to it, if it is neither. */
  readonly otherwise?: string;
}

interface Match {
  readonly service: ServiceKey;
  /** Empty for an unnamed port. */
  readonly port: string;
  readonly protocol: Protocol;
  readonly family: IpFamily;
}

/** A frontend of a service port. */
export interface FrontendMatch extends Match {
  readonly frontend: FrontendExplanation;
  readonly status: PortStatus;
  /** Of a load-balancer IP, if not all sources may use it. */
  readonly sourceRanges?: readonly string[];
}

/** An endpoint of a service port. */
export interface EndpointMatch extends Match {
  readonly endpoint: EndpointExplanation;
}
