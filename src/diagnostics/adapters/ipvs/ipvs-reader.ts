import type { IptablesCommands } from '../../../adapters/iptables/iptables-commands.js';
import type { IpSets } from '../../../adapters/ipset/ip-sets.js';
import type { ServiceAddresses, VirtualServers } from '../../../adapters/ipvs/ipvs-kernel.js';

/** What is read of the kernel. */
export interface IpvsReader {
  readonly tables: Pick<IptablesCommands, 'save'>;
  readonly sets: Pick<IpSets, 'read'>;
  readonly addresses: Pick<ServiceAddresses, 'list'>;
  readonly servers: Pick<VirtualServers, 'find'>;
  close(): void;
}
