import { readFileSync } from 'node:fs';
import { IptablesMissingError } from '../../adapters/iptables/errors.js';
import type { IptablesVariant } from '../../adapters/iptables/iptables-commands.js';
import { IptablesTool } from '../../adapters/iptables/iptables-tool.js';
import { LegacyWatch } from '../../adapters/iptables/legacy-watch.js';
import { NftWatch } from '../../adapters/iptables/nft-watch.js';
import { BLIND_WATCH, type RulesWatch } from '../../adapters/iptables/rules-watch.js';
import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { supportedFamilies } from '../../adapters/process/ip-families.js';
import type { Logger } from '../../application/ports/logger.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import { netlinkIfAny } from '../nft-transport.js';

const VARIANTS: readonly IptablesVariant[] = ['nft', 'legacy'];

/** The iptables of this node, for the modes that write rules with it. */
export interface OpenIptables {
  readonly tool: IptablesTool;
  readonly families: readonly IpFamily[];
  /** For the log. */
  readonly means: object;
  watch(family: IpFamily): RulesWatch;
  close(): Promise<void>;
}

/** Opens the variant that the node uses. Rejects when neither family can be used. */
export async function openIptables(logger: Logger): Promise<OpenIptables> {
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
    families,
    means: { variant, iptables: version, because: reason },
    watch: (family) => (variant === 'legacy' ? new LegacyWatch(family) : (nftWatch ?? BLIND_WATCH)),
    close: async () => {
      tool.close();
      await generations?.close();
    },
  };
}

/** Calls back for each variant and family of which there may be rules, since either may have written them. */
export async function eachIptables(
  clean: (tool: IptablesTool, family: IpFamily) => Promise<void>,
): Promise<void> {
  for (const variant of VARIANTS) {
    const tool = new IptablesTool({ variant });
    try {
      for (const family of IP_FAMILIES) {
        if (variant === 'legacy' && !hasLegacyTables(family)) continue;
        if ((await tool.problem(family)) !== undefined) continue;
        await clean(tool, family);
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
    throw new Error(`iptables cannot be used on this host: ${reasons.join('; ')}`);
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
