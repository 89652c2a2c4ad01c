import { IpSetTool, mayHaveIpSets } from '../../adapters/ipset/ipset-tool.js';
import { IptablesDriver, type IptablesObserver } from '../../adapters/iptables/iptables-driver.js';
import { IptablesHostReader } from '../../adapters/iptables/iptables-host.js';
import { cleanUpScripts } from '../../adapters/iptables/owned-chains.js';
import { IPVS_OWNED_CHAINS, cleanUpIpvs, retireIpvs } from '../../adapters/ipvs/clean-up-ipvs.js';
import { IpvsDriver, type IpvsKernel } from '../../adapters/ipvs/ipvs-driver.js';
import { SetTable } from '../../adapters/ipvs/kernel-tables.js';
import { NetlinkServiceAddresses } from '../../adapters/ipvs/netlink-service-addresses.js';
import { NetlinkVirtualServers } from '../../adapters/ipvs/netlink-virtual-servers.js';
import {
  ensureIpvsSysctls,
  requireIpvs,
  loadModules,
  servedByIptables,
} from '../../adapters/ipvs/node-requirements.js';
import { ServerTable } from '../../adapters/ipvs/server-table.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { Reconciler } from '../../application/reconcile/reconciler.js';
import { flowsWithFallback } from '../../domain/conntrack/desired-flows.js';
import { EXTERNAL_SERVICES } from '../../domain/iptables/chain-names.js';
import { parseCidr, type Cidr } from '../../domain/net/cidr.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { Configuration } from '../configuration/schema.js';
import { openIptables, removeFromIptables, type IptablesAccess } from './iptables-access.js';
import { attemptEach, type Mode, type OpenMode, type OpenPurpose, type Successor } from './mode.js';

/** The scheduler where the configuration names none, as with kube-proxy. */
export const DEFAULT_SCHEDULER = 'rr';

/** IPVS mode: virtual servers of the kernel, with sets and a few iptables rules around them. */
export class IpvsMode implements Mode {
  readonly name = 'ipvs';
  private readonly scheduler: string;
  private readonly excluded: readonly Cidr[];

  constructor(
    private readonly settings: Configuration['ipvs'],
    private readonly logger: Logger,
  ) {
    this.scheduler = settings.scheduler || DEFAULT_SCHEDULER;
    this.excluded = settings.excludeCIDRs.flatMap((text) => parseCidr(text) ?? []);
  }

  async open(purpose: OpenPurpose = 'serve'): Promise<OpenMode> {
    const { logger, scheduler } = this;
    const serves = purpose === 'serve';
    if (serves) await loadModules(['ip_vs'], logger);
    const kernel = openIpvsKernel();
    let iptables: IptablesAccess | undefined;
    try {
      if (serves) await requireIpvs(kernel.servers, kernel.sets, scheduler);
      const opened = (iptables = await openIptables(logger));
      const drivers = new Map<IpFamily, IpvsDriver>();
      return {
        name: this.name,
        families: opened.families,
        means: { ...opened.means, scheduler },
        iptables: { variant: opened.variant, ownedChains: IPVS_OWNED_CHAINS },
        variantMix: opened.variantMix,
        backend: this.backend(kernel, opened, drivers),
        flows: flowsWithFallback,
        connectionTable: {
          giveUp: async (family, endpoint, frontends) => drivers.get(family)?.giveUp(endpoint, frontends),
        },
        setUp: async () => {
          ensureIpvsSysctls({ strictArp: this.settings.strictARP }, logger);
          await this.setTimeouts(kernel.servers);
        },
        async close() {
          kernel.close();
          await opened.close();
        },
      };
    } catch (error) {
      kernel.close();
      await iptables?.close();
      throw error;
    }
  }

  async cleanUp(successor?: Successor): Promise<readonly string[]> {
    const { logger } = this;
    const kernel = openIpvsKernel();
    const clock = new SystemClock();
    const unseen = new Set<string>();
    const removeRules = async (family: IpFamily): Promise<void> => {
      const kept = successor?.iptables;
      for (const place of await removeFromIptables(() => IPVS_OWNED_CHAINS, kept, logger, [family]))
        unseen.add(place);
    };
    const holdings = IP_FAMILIES.map((family) => ({
      family,
      servers: new ServerTable(family, kernel.servers, this.excluded, clock, logger),
      addresses: kernel.addresses,
      sets: new SetTable(family, kernel.sets),
      mayHaveSets: mayHaveIpSets(),
      rules: { cleanup: () => removeRules(family) },
    }));
    try {
      if (!successor) {
        await attemptEach(holdings, (one) => cleanUpIpvs(one, logger));
        return [...unseen];
      }
      const retire = async (signal: AbortSignal): Promise<number> => {
        let left = 0;
        const retired = holdings.map((one) => retireIpvs(one, clock, logger, signal));
        for (const outcome of await Promise.allSettled(retired)) {
          if (outcome.status === 'rejected') throw outcome.reason;
          left += outcome.value;
        }
        return left;
      };
      // A failure in one family does not wait for connections of the other.
      let left = await retire(AbortSignal.abort());
      if (left > 0 && !successor.signal.aborted) {
        successor.waiting?.();
        left = await retire(successor.signal);
      }
      if (left > 0) return [...unseen, stillCarrying(left)];
      await kernel.addresses.removeDevice();
      return [...unseen];
    } finally {
      kernel.close();
    }
  }

  /** @param drivers gets the driver of each family */
  private backend(
    kernel: KernelAccess,
    iptables: IptablesAccess,
    drivers: Map<IpFamily, IpvsDriver>,
  ): OpenMode['backend'] {
    const { tool } = iptables;
    const host = new IptablesHostReader(tool, undefined, this.logger);
    const kernelOf = (family: IpFamily, logger: Logger, observer: IptablesObserver): IpvsKernel => ({
      ...kernel,
      rules: (baseRules) =>
        new IptablesDriver(family, tool, iptables.watch(family), () => host.read(family), logger, {
          baseRules,
          observer,
          cleanUp: (saved) => cleanUpScripts(saved, IPVS_OWNED_CHAINS),
          // Packets that the nat rules of iptables mode no longer take reach this chain.
          retired: [EXTERNAL_SERVICES],
        }),
      servedByIptables: () => servedByIptables(tool, family),
    });
    const options = { scheduler: this.scheduler, excludeCIDRs: this.excluded };
    return (family, { clock, logger, metrics }) => {
      const log = logger.child({ caller: 'ipvs' });
      const driver = new IpvsDriver(family, kernelOf(family, log, metrics), clock, log, options);
      drivers.set(family, driver);
      return new Reconciler({ mode: this.name, family }, driver, log);
    };
  }

  private async setTimeouts(servers: NetlinkVirtualServers): Promise<void> {
    const { tcpTimeout, tcpFinTimeout, udpTimeout } = this.settings;
    const [tcp, tcpFin, udp] = [tcpTimeout, tcpFinTimeout, udpTimeout].map((milliseconds) =>
      Math.floor(milliseconds / 1000),
    ) as [number, number, number];
    if (tcp <= 0 && tcpFin <= 0 && udp <= 0) return;
    try {
      await servers.setTimeouts({ tcp, tcpFin, udp });
    } catch (error) {
      this.logger.error(
        { tcp, tcpFin, udp, error },
        'cannot set the IPVS timeouts; keeping the current ones',
      );
    }
  }
}

function stillCarrying(servers: number): string {
  return `virtual servers of IPVS mode still carry connections (${servers}): run this again when these have ended, or end them with --cleanup`;
}

/** The targets of IPVS mode besides iptables. */
interface KernelAccess {
  readonly servers: NetlinkVirtualServers;
  readonly addresses: NetlinkServiceAddresses;
  readonly sets: IpSetTool;
  close(): void;
}

export function openIpvsKernel(): KernelAccess {
  const servers = new NetlinkVirtualServers();
  const addresses = new NetlinkServiceAddresses();
  const sets = new IpSetTool();
  return {
    servers,
    addresses,
    sets,
    close() {
      servers.close();
      addresses.close();
      sets.close();
    },
  };
}
