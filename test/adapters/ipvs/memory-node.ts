import { IptablesDriver } from '../../../src/adapters/iptables/iptables-driver.js';
import { Reconciler } from '../../../src/application/reconcile/reconciler.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryIpSets } from '../../support/fakes/memory-ip-sets.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { MemoryServiceAddresses } from '../../support/fakes/memory-service-addresses.js';
import { MemoryVirtualServers } from '../../support/fakes/memory-virtual-servers.js';
import { cleanUpScripts, type OwnedChains } from '../../../src/adapters/iptables/owned-chains.js';
import type { RestoreOutcome } from '../../../src/adapters/iptables/iptables-commands.js';
import { IPVS_OWNED_CHAINS, type IpvsHoldings } from '../../../src/adapters/ipvs/clean-up-ipvs.js';
import { ServerTable } from '../../../src/adapters/ipvs/server-table.js';
import { SetTable } from '../../../src/adapters/ipvs/kernel-tables.js';
import { IpvsDriver, type IpvsDriverOptions } from '../../../src/adapters/ipvs/ipvs-driver.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
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

  backend(family: IpFamily = 'IPv4', options: Partial<IpvsDriverOptions> = {}): Backend {
    return new Reconciler({ mode: 'ipvs', family }, this.driver(family, options), this.logger);
  }

  driver(family: IpFamily = 'IPv4', options: Partial<IpvsDriverOptions> = {}): IpvsDriver {
    const { servers, addresses, sets, iptables, clock, logger } = this;
    return new IpvsDriver(
      family,
      {
        servers,
        addresses,
        sets,
        rules: (baseRules) =>
          new IptablesDriver(family, iptables, iptables.watch(), () => Promise.resolve(HOST), logger, {
            baseRules,
            cleanUp: (saved) => cleanUpScripts(saved, IPVS_OWNED_CHAINS),
          }),
        servedByIptables: () => Promise.resolve(this.servedByIptables),
      },
      clock,
      logger,
      { scheduler: 'rr', excludeCIDRs: [], pause: () => Promise.resolve(), ...options },
    );
  }

  /** A backend in a new process, on what an earlier one left. */
  reopened(family: IpFamily = 'IPv4'): Backend {
    this.iptables.reopen();
    return this.backend(family);
  }

  /** What mode ipvs has left here, for its removal. */
  holdings(family: IpFamily = 'IPv4', kept?: OwnedChains): IpvsHoldings {
    this.iptables.reopen();
    const { servers, addresses, sets, clock, logger } = this;
    const rules = new IptablesDriver(family, this.iptables, undefined, () => Promise.resolve(HOST), logger, {
      cleanUp: (saved) => cleanUpScripts(saved, IPVS_OWNED_CHAINS, kept),
    });
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

/** Starts the backend on the IPv4 network of the node, and forgets what it wrote. */
export async function start(
  node: MemoryNode,
  backend: Backend,
  entries: readonly ForwardingEntry[],
): Promise<void> {
  const { failed } = await backend.start(entries, nodeNetwork());
  expect(failed).toEqual([]);
  node.takeJournal();
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
