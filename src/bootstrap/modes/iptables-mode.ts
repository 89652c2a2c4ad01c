import { readFileSync } from 'node:fs';
import { ContainerModule } from 'inversify';
import { IptablesMissingError } from '../../adapters/iptables/errors.js';
import { IptablesBackend } from '../../adapters/iptables/iptables-backend.js';
import type { IptablesVariant } from '../../adapters/iptables/iptables-commands.js';
import { IptablesHostReader } from '../../adapters/iptables/iptables-host.js';
import { IptablesPlanner } from '../../adapters/iptables/iptables-planner.js';
import { IptablesTool } from '../../adapters/iptables/iptables-tool.js';
import { LegacyWatch } from '../../adapters/iptables/legacy-watch.js';
import { Nfacct } from '../../adapters/iptables/nfacct.js';
import { NftWatch } from '../../adapters/iptables/nft-watch.js';
import { BLIND_WATCH, type RulesWatch } from '../../adapters/iptables/rules-watch.js';
import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import { ensureSysctl } from '../../adapters/sysctl/sysctl.js';
import type { Logger } from '../../application/ports/logger.js';
import type { Planner } from '../../application/ports/planner.js';
import type { CounterName } from '../../domain/iptables/options.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import { BACKENDS, FAMILIES, LOGGER, METRICS } from '../identifiers.js';
import { netlinkIfAny } from '../nft-transport.js';
import type { Mode, OpenMode } from './open-mode.js';

const VARIANTS: readonly IptablesVariant[] = ['nft', 'legacy'];

/** Mode iptables: kube-proxy's own rules, written by the variant of iptables that the node uses. */
export class IptablesMode implements Mode {
  readonly name = 'iptables';

  /** @param localhostNodePorts node ports answer on 127.0.0.1, which the kernel must be told */
  constructor(
    private readonly localhostNodePorts: boolean,
    private readonly logger: Logger,
  ) {}

  async open(): Promise<OpenMode> {
    const tool = new IptablesTool();
    const { variant, version, reason } = await tool.identify();
    const lock = await tool.lock.problem();
    if (lock !== undefined) this.logger.warn({ lock: tool.lock.path }, lock);
    const families = await this.usableFamilies(tool);
    if (this.localhostNodePorts && families.includes('IPv4'))
      ensureSysctl('net/ipv4/conf/all/route_localnet', '1');
    // Without netlink, changes by others are found by listing.
    const generations = variant === 'nft' ? await netlinkIfAny() : undefined;
    const nftWatch = generations && new NftWatch(new GenerationWatch(generations));
    const watch = (family: IpFamily): RulesWatch =>
      variant === 'legacy' ? new LegacyWatch(family) : (nftWatch ?? BLIND_WATCH);
    const host = new IptablesHostReader(tool, openCounters(), this.logger);
    const module = new ContainerModule(({ bind }) => {
      bind(BACKENDS)
        .toDynamicValue((context) =>
          context.get(FAMILIES).map(
            (family) =>
              new IptablesBackend(family, tool, watch(family), () => host.read(), context.get(LOGGER), {
                observer: context.get(METRICS),
              }),
          ),
        )
        .inSingletonScope();
    });
    const packetCounters = await openReadableCounters();
    const close = async () => {
      tool.close();
      packetCounters?.close();
      await generations?.close();
    };
    return {
      name: this.name,
      families,
      means: { variant, iptables: version, because: reason },
      packetCounters,
      module,
      close,
    };
  }

  /** For the tools and the kernel of this machine; where there are none, for such as are common now. */
  async planner(): Promise<Planner> {
    const tool = new IptablesTool();
    const counters = openCounters();
    const identify = () => tool.identify().catch(() => ({ randomFully: true }));
    try {
      const look = { ensure: async (name: CounterName) => void (await counters?.packets(name)) };
      const host = new IptablesHostReader({ identify }, counters && look, this.logger);
      return new IptablesPlanner(await host.read());
    } finally {
      counters?.close();
      tool.close();
    }
  }

  /** Both variants, since the rules may have been written by either. */
  async cleanUp(): Promise<void> {
    for (const variant of VARIANTS) {
      const tool = new IptablesTool({ variant });
      const host = new IptablesHostReader(tool, undefined, this.logger);
      try {
        for (const family of IP_FAMILIES) {
          if (variant === 'legacy' && !hasLegacyTables(family)) continue;
          if ((await tool.problem(family)) !== undefined) continue;
          await new IptablesBackend(family, tool, BLIND_WATCH, () => host.read(), this.logger).cleanup();
        }
      } catch (error) {
        if (!(error instanceof IptablesMissingError)) throw error;
      } finally {
        tool.close();
      }
    }
  }

  private async usableFamilies(tool: IptablesTool): Promise<readonly IpFamily[]> {
    const usable: IpFamily[] = [];
    const problems: string[] = [];
    for (const family of supportedFamilies()) {
      const problem = await tool.problem(family);
      if (problem === undefined) usable.push(family);
      else problems.push(`${family}: ${problem}`);
    }
    if (usable.length === 0)
      throw new Error(`iptables is not available on this host : ${problems.join('; ')}`);
    for (const problem of problems)
      this.logger.info({ problem }, 'iptables cannot serve this family; going on without it');
    return usable;
  }
}

/** Whether the legacy tables exist in this network namespace; asking the tool would make them. */
function hasLegacyTables(family: IpFamily): boolean {
  try {
    return readFileSync(`/proc/net/${family === 'IPv4' ? 'ip' : 'ip6'}_tables_names`, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}

/** For metrics, which ask while rules are written. Undefined where the kernel has no counters. */
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
