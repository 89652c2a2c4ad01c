import type { IptablesVariant } from '../../adapters/iptables/iptables-commands.js';
import type { OwnedChains } from '../../adapters/iptables/owned-chains.js';
import type { VariantMix } from '../../adapters/iptables/variants.js';
import type {
  PacketCounters,
  PrometheusMetrics,
  RejectedPackets,
} from '../../adapters/metrics/prometheus-metrics.js';
import { errorMessage } from '../../application/error-message.js';
import type { Backend } from '../../application/ports/backend.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ConnectionTable } from '../../application/ports/node/endpoint-connections.js';
import type { LocalAddresses } from '../../application/ports/node/network.js';
import type { ServicePortFlows } from '../../domain/conntrack/desired-flows.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ProxyPorts } from '../../domain/userspace/proxied-port.js';
import type { ProxyMode } from '../configuration/schema.js';

/** A proxy mode whose way into the kernel is open. */
export interface OpenMode {
  readonly name: ProxyMode;
  /** The families that it can serve on this machine. */
  readonly families: readonly IpFamily[];
  /** For the log: by which means it works. */
  readonly means: object;
  /** Its parts of iptables, which the clean-up of other modes keeps. */
  readonly iptables?: ActiveRules;
  /** Missing where the mode has nothing in iptables. */
  readonly variantMix?: VariantMix;
  /** Missing where this mode or this kernel does not count packets. */
  readonly packetCounters?: PacketCounters | undefined;
  /** Missing in modes that reject none. */
  readonly rejectedPackets?: RejectedPackets | undefined;
  /** Makes the backend of a family. */
  readonly backend: (family: IpFamily, parts: BackendParts) => Backend;
  /** Where the mode leads the flows of a service port, when it is not to its endpoints; undefined if that needs no care. */
  readonly flows?: (entry: ForwardingEntry) => ServicePortFlows | undefined;
  /** Another connection table beside the table of tracked connections, if any. */
  readonly connectionTable?: ConnectionTable;
  /** The sockets of the proxy, in userspace mode only. */
  readonly proxyPorts?: (family: IpFamily) => ProxyPorts;
  /** Its backends are those of an embedding program: only that program has their rules. */
  readonly isEmbedded?: true;
  /**
   * Sets what the mode needs of the machine besides rules: sysctls. To be called before the first rule, after all that may end
   * a start. Missing where it needs nothing. Idempotent.
   * @throws SysctlError
   */
  setUp?(): Promise<void>;
  /** Releases sockets and processes, after the backends are not used any more. Idempotent. */
  close(): Promise<void>;
}

/** The parts of a proxy that a backend is made of. */
export interface BackendParts {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: PrometheusMetrics;
  readonly localAddresses: LocalAddresses;
}

/** The active mode's parts of iptables: the clean-up of another mode keeps it. */
export interface ActiveRules {
  readonly variant: IptablesVariant;
  readonly ownedChains: OwnedChains;
}

/** The mode that serves when another one is removed. */
export interface Successor {
  readonly iptables?: ActiveRules;
  /** Aborted when connections are not waited for, or not any longer: what carries some is left to a later start. */
  readonly signal: AbortSignal;
  /** Called when nothing is left but what carries connections, before these are waited for. */
  readonly waiting?: (() => void) | undefined;
}

/** The purpose of opening a mode. */
export type OpenPurpose = 'serve' | 'compare';

/** A mode as a whole: what can be opened, and what can be removed without opening. */
export interface Mode {
  readonly name: ProxyMode;
  /**
   * Changes no setting of this machine. Rejects when the mode cannot be used on it; the message has the reason.
   * @param purpose `compare`: its backends are only requested differences
   */
  open(purpose?: OpenPurpose): Promise<OpenMode>;
  /**
   * Removes everything that this mode makes. Finding nothing is fine. Rejects when something could not be removed.
   * @param successor the mode that serves instead: what is its own stays, and connections may take their time to end
   * @returns what is left for now, and what could not be looked for, for people
   */
  cleanUp(successor?: Successor): Promise<readonly string[]>;
}

/** Takes a step for each item, one after the other. One that fails does not stop the others; then this rejects with all errors. */
export async function attemptEach<Item>(
  items: Iterable<Item>,
  step: (item: Item) => Promise<unknown>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) {
    try {
      await step(item);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map(errorMessage).join('; '));
}
