import type { Tracer, Walk } from '../../application/ports/tracer.js';
import { plannedIpvs } from '../../domain/compare/planned-sides.js';
import type { Side } from '../../domain/compare/side.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { SavedTables } from '../../../domain/iptables/saved-tables.js';
import { SavedRules } from '../../domain/iptables/saved-rules.js';
import { SERVICE_SETS, setName } from '../../../domain/ipvs/service-sets.js';
import { ipvsDesiredWalk } from '../../domain/ipvs/desired-walk.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { isOwned } from '../../../adapters/iptables/owned-chains.js';
import { IPVS_OWNED_CHAINS } from '../../../adapters/ipvs/clean-up-ipvs.js';
import type { IpvsReader } from './ipvs-reader.js';
import { KernelWalk } from './kernel-walk.js';

/** Follows packets through mode ipvs. Virtual servers by firewall mark are not seen. */
export class IpvsTracer implements Tracer {
  /**
   * @param scheduler of Services that do not ask for another one; the kernel is assumed to have those that are asked for
   * @param open gives access to the kernel, each time it is read
   */
  constructor(
    private readonly family: IpFamily,
    private readonly scheduler: string,
    private readonly open: () => IpvsReader,
  ) {}

  desired(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Walk {
    return ipvsDesiredWalk(entries, node, { randomFully: true }, this.schedulers);
  }

  planned(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Promise<Side> {
    return Promise.resolve(plannedIpvs(entries, node, { randomFully: true }, this.schedulers));
  }

  private get schedulers() {
    return { scheduler: this.scheduler, hasScheduler: () => true };
  }

  async actual(signal?: AbortSignal): Promise<Walk> {
    const { family, open } = this;
    const reader = open();
    try {
      const saved = await reader.tables.save(family, signal);
      signal?.throwIfAborted();
      const { sets } = await reader.sets.read(setsIn(saved, family));
      const addresses = (await reader.addresses.list(family)) ?? [];
      const rules = new SavedRules(saved, (table, chain) => isOwned(IPVS_OWNED_CHAINS, table, chain));
      const read = {
        rules,
        sets: new Map(sets.map((set) => [set.name, set])),
        addresses: new Set(addresses),
      };
      return new KernelWalk(read, open);
    } finally {
      reader.close();
    }
  }
}

const MATCHED_SET = /--match-set (\S+)/g;

/** The sets of the mode, and those that rules of other programs look into. */
export function setsIn(tables: SavedTables, family: IpFamily): ReadonlySet<string> {
  return new Set([...serviceSets(family), ...matchedSets(tables)]);
}

/** Whether rules of the mode are in force: some match against its sets. */
export function matchesServiceSets(tables: SavedTables, family: IpFamily): boolean {
  const matched = new Set(matchedSets(tables));
  return serviceSets(family).some((name) => matched.has(name));
}

function serviceSets(family: IpFamily): readonly string[] {
  return SERVICE_SETS.map((set) => setName(set, family));
}

function matchedSets(tables: SavedTables): readonly string[] {
  return tables.flatMap(({ chains }) =>
    chains.flatMap(({ rules }) =>
      rules.flatMap((rule) => [...rule.matchAll(MATCHED_SET)].map(([, name]) => name!)),
    ),
  );
}
