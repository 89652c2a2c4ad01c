import { IptablesDriver } from '../../adapters/iptables/iptables-driver.js';
import { IptablesHostReader, type CounterMaker, Nfacct } from '../../adapters/iptables/iptables-host.js';
import { IptablesTool } from '../../adapters/iptables/iptables-tool.js';
import {
  IPTABLES_OWNED_CHAINS,
  ownedAlone,
  judgeFirewall,
  removableChains,
} from '../../adapters/iptables/owned-chains.js';
import { holdsIpvsRules, IPVS_OWNED_CHAINS } from '../../adapters/ipvs/clean-up-ipvs.js';
import { routesLocalnet, ensureSysctl } from '../../adapters/sysctl.js';
import type { Logger } from '../../application/ports/logger.js';
import { Reconciler } from '../../application/reconcile/reconciler.js';
import { balancingNote } from '../../domain/balancing/balancing.js';
import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import { FIREWALL } from '../../domain/iptables/chain-names.js';
import type { IptablesHost } from '../../domain/iptables/options.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { openIptables, removeFromIptables } from './iptables-access.js';
import type { BackendParts, Mode, OpenMode, OpenPurpose, Successor } from './mode.js';

const FIREWALL_STAYS =
  'the chain stays: it drops external packets to 127.0.0.0/8, which the sysctl route_localnet permits; --cleanup removes it when the sysctl is 0';

/** iptables mode: kube-proxy's own rules, written by the variant of iptables that the node uses. */
export class IptablesMode implements Mode {
  readonly name = 'iptables';

  /** @param localhostNodePorts node ports answer on 127.0.0.1, which needs a kernel setting */
  constructor(
    private readonly localhostNodePorts: boolean,
    private readonly logger: Logger,
  ) {}

  async open(purpose: OpenPurpose = 'serve'): Promise<OpenMode> {
    const iptables = await openIptables(this.logger);
    const { tool, variant, variantMix, means, families } = iptables;
    const counters = openCounters();
    const host = new IptablesHostReader(
      tool,
      purpose === 'serve' ? counters : onlyLooking(counters),
      this.logger,
    );
    const backend = (family: IpFamily, { logger: parent, metrics }: BackendParts) => {
      const logger = parent.child({ caller: 'iptables' });
      const readHost = () => host.read(family);
      const warningFor = (entry: ForwardingEntry) => balancingNote(entry, this.name, []);
      const options = { observer: metrics, warningFor };
      const watch = iptables.watch(family);
      const driver = new IptablesDriver(family, tool, watch, readHost, logger, options);
      return new Reconciler({ mode: this.name, family }, driver, logger);
    };
    const packetCounters = await openReadableCounters();
    const close = async () => {
      counters?.close();
      packetCounters?.close();
      await iptables.close();
    };
    return {
      name: this.name,
      families,
      means,
      iptables: { variant, ownedChains: IPTABLES_OWNED_CHAINS },
      variantMix,
      packetCounters,
      backend,
      setUp: async () => {
        if (this.localhostNodePorts && families.includes('IPv4'))
          ensureSysctl('net/ipv4/conf/all/route_localnet', '1');
      },
      close,
    };
  }

  cleanUp(successor?: Successor): Promise<readonly string[]> {
    const removable = (saved: SavedTables, family: IpFamily) => {
      const verdict = judgeFirewall(saved, family === 'IPv4' && routesLocalnet());
      if (verdict === 'protects' && !successor) this.logger.info({ family, chain: FIREWALL }, FIREWALL_STAYS);
      const owned = removableChains(verdict);
      // Those that both modes have go with IPVS mode: while IPVS serves, they reject the packets that it must not get.
      return holdsIpvsRules(saved) ? ownedAlone(owned, IPVS_OWNED_CHAINS) : owned;
    };
    return removeFromIptables(removable, successor?.iptables, this.logger);
  }
}

/** The tools and the kernel of this machine; where there are none, those that are common now. Changes nothing. */
export async function readIptablesHost(logger: Logger): Promise<IptablesHost> {
  const tool = new IptablesTool();
  const counters = openCounters();
  const identify = () => tool.identify().catch(() => ({ randomFully: true }));
  try {
    const asked = { identify, lackingMatches: () => Promise.resolve([]) };
    return await new IptablesHostReader(asked, onlyLooking(counters), logger).read('IPv4');
  } finally {
    counters?.close();
    tool.close();
  }
}

/** Counters that are not created: missing ones stay missing. */
function onlyLooking(counters: Nfacct | undefined): CounterMaker | undefined {
  return counters && { ensure: async (name) => void (await counters.packets(name)) };
}

/** For metrics, which read them while rules are written. Undefined where the kernel has no counters. */
async function openReadableCounters(): Promise<Nfacct | undefined> {
  const counters = openCounters();
  try {
    await counters?.packets('probe');
    return counters;
  } catch {
    counters?.close();
    return undefined;
  }
}

function openCounters(): Nfacct | undefined {
  try {
    return Nfacct.open();
  } catch {
    return undefined;
  }
}
