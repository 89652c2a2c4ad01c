import type { ContainerModule } from 'inversify';
import type { PacketCounters } from '../../adapters/metrics/prometheus-metrics.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { Planner } from '../../application/ports/planner.js';
import type { UdpServicePort } from '../../domain/conntrack/udp-service-port.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ProxyMode } from '../configuration/schema.js';

/** A proxy mode whose way into the kernel is open. */
export interface OpenMode {
  readonly name: ProxyMode;
  /** The families that it can serve on this machine. */
  readonly families: readonly IpFamily[];
  /** For the log: by which means it works. */
  readonly means: object;
  /** Missing where this mode or this kernel does not count packets. */
  readonly packetCounters?: PacketCounters | undefined;
  /** Binds BACKENDS, one for each family. */
  readonly module: ContainerModule;
  /** Where the mode leads the UDP flows of a service port, when it is not to its endpoints. */
  readonly udpFlows?: (entry: ForwardingEntry) => UdpServicePort | undefined;
  /** Releases sockets and processes, after the backends are not used any more. Idempotent. */
  close(): Promise<void>;
}

/** A mode as a whole: what can be opened, and what can be planned or removed without opening. */
export interface Mode {
  readonly name: ProxyMode;
  /** Rejects when the mode cannot be used on this machine; the message says why. */
  open(): Promise<OpenMode>;
  /** Looks at this machine as far as the rules depend on it, and changes nothing there. */
  planner(): Promise<Planner>;
  /** Removes every rule that this mode makes. Finding nothing, or no tool that could have made any, is fine. */
  cleanUp(): Promise<void>;
}
