import type { ContainerModule } from 'inversify';
import type { PacketCounters } from '../../adapters/metrics/prometheus-metrics.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { LocalAddresses } from '../../application/ports/local-addresses.js';
import type { Planner } from '../../application/ports/planner.js';
import type { UdpServicePort } from '../../domain/conntrack/udp-service-port.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ProxyMode } from '../configuration/schema.js';
import type { IptablesHoldings } from '../iptables-access.js';

/** A proxy mode whose way into the kernel is open. */
export interface OpenMode {
  readonly name: ProxyMode;
  /** The families that it can serve on this machine. */
  readonly families: readonly IpFamily[];
  /** For the log: by which means it works. */
  readonly means: object;
  /** What it holds in iptables, which the clean-up of other modes leaves alone. */
  readonly iptables?: IptablesHoldings;
  /** The addresses of this node, where the mode has its own way to know them. */
  readonly localAddresses?: LocalAddresses;
  /** From now on tells when an address of this node came or went; missing where nothing tells. */
  followAddresses?(onChange: () => void): void;
  /** Missing where this mode or this kernel does not count packets. */
  readonly packetCounters?: PacketCounters | undefined;
  /** Binds BACKENDS, one for each family. */
  readonly module: ContainerModule;
  /** Where the mode leads the UDP flows of a service port, when it is not to its endpoints. */
  readonly udpFlows?: (entry: ForwardingEntry) => UdpServicePort | undefined;
  /** Releases sockets and processes, after the backends are not used any more. Idempotent. */
  close(): Promise<void>;
}

/** The mode that serves when another one is removed. */
export interface Successor {
  readonly iptables?: IptablesHoldings;
  /** Aborted when the program ends: what still waits for something is left to a later start. */
  readonly signal: AbortSignal;
}

/** A mode as a whole: what can be opened, and what can be planned or removed without opening. */
export interface Mode {
  readonly name: ProxyMode;
  /** Rejects when the mode cannot be used on this machine; the message says why. */
  open(): Promise<OpenMode>;
  /** Looks at this machine as far as the rules depend on it, and changes nothing there. */
  planner(): Promise<Planner>;
  /**
   * Removes everything that this mode makes. Finding nothing, or no tool that could have made any, is fine.
   * @param successor the mode that serves instead: what is its own stays, and connections may take their time to end
   */
  cleanUp(successor?: Successor): Promise<void>;
}
