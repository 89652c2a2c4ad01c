import { readFileSync } from 'node:fs';
import { cleanUpScripts, type Belongings } from '../adapters/iptables/clean-up-scripts.js';
import { IptablesMissingError } from '../adapters/iptables/errors.js';
import { IptablesBackend } from '../adapters/iptables/iptables-backend.js';
import type { IptablesVariant } from '../adapters/iptables/iptables-commands.js';
import { IptablesHostReader } from '../adapters/iptables/iptables-host.js';
import { IptablesTool } from '../adapters/iptables/iptables-tool.js';
import { LegacyWatch } from '../adapters/iptables/legacy-watch.js';
import { NftWatch } from '../adapters/iptables/nft-watch.js';
import { BLIND_WATCH, type RulesWatch } from '../adapters/iptables/rules-watch.js';
import { GenerationWatch } from '../adapters/nftables/generation-watch.js';
import { supportedFamilies } from '../adapters/process/ip-families.js';
import type { Logger } from '../application/ports/logger.js';
import type { SavedTables } from '../domain/iptables/saved-tables.js';
import { IP_FAMILIES, type IpFamily } from '../domain/net/ip-family.js';
import { netlinkIfAny } from './nft-transport.js';

/** iptables as this node uses it, open for a mode that writes rules there. */
export interface IptablesAccess {
  readonly tool: IptablesTool;
  readonly variant: IptablesVariant;
  /** For the log: by which means rules are written. */
  readonly means: object;
  /** The families that the tools can serve. */
  readonly families: readonly IpFamily[];
  watch(family: IpFamily): RulesWatch;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Rejects when the tools cannot serve any family. */
export async function openIptables(logger: Logger): Promise<IptablesAccess> {
  const tool = new IptablesTool();
  const { variant, version, reason } = await tool.identify();
  const lock = variant === 'legacy' ? await tool.lock.problem() : undefined;
  if (lock !== undefined) logger.warn({ lock: tool.lock.path }, lock);
  const families = await usableFamilies(tool, logger);
  // Without netlink, changes by others are found by listing.
  const generations = variant === 'nft' ? await netlinkIfAny() : undefined;
  const nftWatch = generations && new NftWatch(new GenerationWatch(generations));
  return {
    tool,
    variant,
    means: { variant, iptables: version, because: reason },
    families,
    watch: (family) => (variant === 'legacy' ? new LegacyWatch(family) : (nftWatch ?? BLIND_WATCH)),
    async close() {
      tool.close();
      await generations?.close();
    },
  };
}

/** What a mode in force holds in iptables: the clean-up of another mode must leave it. */
export interface IptablesHoldings {
  readonly variant: IptablesVariant;
  readonly belongings: Belongings;
}

/** Removes what a mode makes in iptables, of both variants, but for what the mode in force holds there. */
export async function removeFromIptables(
  belongings: Belongings,
  beside: IptablesHoldings | undefined,
  logger: Logger,
  families: readonly IpFamily[] = IP_FAMILIES,
): Promise<void> {
  await withEachVariant(families, async (tool, variant, family) => {
    const kept = beside?.variant === variant ? beside.belongings : undefined;
    const host = new IptablesHostReader(tool, undefined, logger);
    const cleanUp = (saved: SavedTables, limit: number) => cleanUpScripts(saved, belongings, kept, limit);
    await new IptablesBackend(family, tool, BLIND_WATCH, () => host.read(family), logger, {
      cleanUp,
    }).cleanup();
  });
}

/** Looks into both variants, since the rules may have been written by either. Finding no tools is fine. */
export async function withEachVariant(
  families: readonly IpFamily[],
  work: (tool: IptablesTool, variant: IptablesVariant, family: IpFamily) => Promise<void>,
): Promise<void> {
  for (const variant of ['nft', 'legacy'] as const) {
    const tool = new IptablesTool({ variant });
    try {
      for (const family of families) {
        if (variant === 'legacy' && !hasLegacyTables(family)) continue;
        if ((await tool.problem(family)) !== undefined) continue;
        await work(tool, variant, family);
      }
    } catch (error) {
      if (!(error instanceof IptablesMissingError)) throw error;
    } finally {
      tool.close();
    }
  }
}

async function usableFamilies(tool: IptablesTool, logger: Logger): Promise<readonly IpFamily[]> {
  const problems = new Map<IpFamily, string>();
  const supported = supportedFamilies();
  for (const family of IP_FAMILIES) {
    const problem = supported.includes(family)
      ? await tool.problem(family)
      : 'this kernel, or network namespace, has it switched off';
    if (problem !== undefined) problems.set(family, problem);
  }
  if (problems.size === IP_FAMILIES.length) {
    const reasons = [...problems].map(([family, problem]) => `${family}: ${problem}`);
    throw new Error(`iptables is not available on this host : ${reasons.join('; ')}`);
  }
  for (const [family, problem] of problems)
    logger.info({ family, problem }, 'iptables cannot serve this family; going on with the other alone');
  return IP_FAMILIES.filter((family) => !problems.has(family));
}

/** Whether the legacy tables exist in this network namespace; asking the tool would make them. */
function hasLegacyTables(family: IpFamily): boolean {
  try {
    return readFileSync(`/proc/net/${family === 'IPv4' ? 'ip' : 'ip6'}_tables_names`, 'utf8').trim() !== '';
  } catch {
    return false;
  }
}
