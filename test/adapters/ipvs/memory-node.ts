import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryIpSets } from '../../../src/testing/fakes/memory-ip-sets.js';
import { MemoryIptables } from '../../../src/testing/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryServiceAddresses } from '../../../src/testing/fakes/memory-service-addresses.js';
import { MemoryVirtualServers } from '../../../src/testing/fakes/memory-virtual-servers.js';
import { cleanUpScripts, type Belongings } from '../../../src/adapters/iptables/clean-up-scripts.js';
import { IptablesBackend } from '../../../src/adapters/iptables/iptables-backend.js';
import { BLIND_WATCH } from '../../../src/adapters/iptables/rules-watch.js';
import type { RestoreOutcome } from '../../../src/adapters/iptables/iptables-commands.js';
import { IPVS_BELONGINGS } from '../../../src/adapters/ipvs/belongings.js';
import type { IpvsRemains } from '../../../src/adapters/ipvs/ipvs-remains.js';
import { ServerTable } from '../../../src/adapters/ipvs/server-table.js';
import { SetTable } from '../../../src/adapters/ipvs/set-table.js';
import { IpvsBackend, type IpvsBackendOptions } from '../../../src/adapters/ipvs/ipvs-backend.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { HOST } from '../../support/iptables/services.js';

class JournalledIptables extends MemoryIptables {
  constructor(private readonly journal: string[]) {
    super();
  }

  override restore(family: IpFamily, input: Iterable<string>): Promise<RestoreOutcome> {
    this.journal.push('restore');
    return super.restore(family, input);
  }
}

/** A node in memory: all that mode ipvs writes to, with one journal, and backends for it. */
export class MemoryNode {
  readonly journal: string[] = [];
  readonly servers = new MemoryVirtualServers(this.journal);
  readonly addresses = new MemoryServiceAddresses(this.journal);
  readonly sets = new MemoryIpSets(this.journal);
  readonly iptables = new JournalledIptables(this.journal);
  readonly clock = new FakeClock();
  readonly logger = new MemoryLogger();
  servedByIptables = false;

  backend(family: IpFamily = 'IPv4', options: Partial<IpvsBackendOptions> = {}): IpvsBackend {
    const { servers, addresses, sets, iptables, clock, logger } = this;
    return new IpvsBackend(
      family,
      {
        servers,
        addresses,
        sets,
        rules: (source) =>
          new IptablesBackend(family, iptables, iptables.watch(), () => Promise.resolve(HOST), logger, {
            ...source,
            cleanUp: (saved) => cleanUpScripts(saved, IPVS_BELONGINGS),
          }),
        servedByIptables: () => Promise.resolve(this.servedByIptables),
      },
      clock,
      logger,
      { scheduler: 'rr', excludeCIDRs: [], pause: () => Promise.resolve(), ...options },
    );
  }

  /** A backend in a new process, on what an earlier one left. */
  reopened(family: IpFamily = 'IPv4'): IpvsBackend {
    this.iptables.reopen();
    return this.backend(family);
  }

  /** What mode ipvs has left here, for its removal. */
  remains(family: IpFamily = 'IPv4', kept?: Belongings): IpvsRemains {
    this.iptables.reopen();
    const { servers, addresses, sets, clock, logger } = this;
    const rules = new IptablesBackend(
      family,
      this.iptables,
      BLIND_WATCH,
      () => Promise.resolve(HOST),
      logger,
      { cleanUp: (saved) => cleanUpScripts(saved, IPVS_BELONGINGS, kept) },
    );
    return {
      family,
      servers: new ServerTable(family, servers, [], clock, logger),
      addresses,
      sets: new SetTable(family, sets),
      rules,
      pause: () => Promise.resolve(),
    };
  }

  /** What was done since this was last asked. */
  takeJournal(): readonly string[] {
    return this.journal.splice(0);
  }

  rules(table: 'nat' | 'filter', chain: string, family: IpFamily = 'IPv4'): readonly string[] | undefined {
    return this.iptables.chain(family, table, chain);
  }
}

export function nodeNetwork(family: IpFamily = 'IPv4', parts: Partial<NodeNetwork> = {}): NodeNetwork {
  return {
    family,
    detector: undefined,
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    nodeAddresses: family === 'IPv4' ? ['192.0.2.11'] : ['2001:db8::11'],
    serviceCIDRs: [],
    ...parts,
  };
}
