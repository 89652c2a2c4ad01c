import type { IptablesVariant } from '../../adapters/iptables/iptables-commands.js';
import { IptablesDriver } from '../../adapters/iptables/iptables-driver.js';
import { IptablesHostReader } from '../../adapters/iptables/iptables-host.js';
import { IptablesTool } from '../../adapters/iptables/iptables-tool.js';
import { LegacyWatch, type IptablesWatch } from '../../adapters/iptables/iptables-watch.js';
import { holdsProxyChains, type OwnedChains, cleanUpScripts } from '../../adapters/iptables/owned-chains.js';
import { VariantMix, legacyTables } from '../../adapters/iptables/variants.js';
import { GenerationWatch } from '../../adapters/nftables/generation-watch.js';
import { CommitListener } from '../../adapters/nftables/netlink/commit-listener.js';
import { NetlinkNftTransport } from '../../adapters/nftables/netlink/netlink-transport.js';
import { listChains } from '../../adapters/nftables/netlink/table-listing.js';
import { supportedFamilies } from '../../adapters/process/host-facts.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { SavedTables } from '../../domain/iptables/saved-tables.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import { attemptEach, type ActiveRules } from './mode.js';

/** iptables as this node uses it, open for a mode that writes rules there. */
export interface IptablesAccess {
  readonly tool: IptablesTool;
  readonly variant: IptablesVariant;
  /** For the log: by which means rules are written. */
  readonly means: object;
  /** The families that the tools can serve. */
  readonly families: readonly IpFamily[];
  readonly variantMix: VariantMix;
  /** Undefined where no cheap sign shows whether another program wrote. */
  watch(family: IpFamily): IptablesWatch | undefined;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Rejects when the tools cannot serve any family. */
export async function openIptables(logger: Logger): Promise<IptablesAccess> {
  const tool = new IptablesTool({ listen: () => CommitListener.open() });
  const { variant, version, reason } = await tool.identify();
  const lock = variant === 'legacy' ? await tool.lock.problem() : undefined;
  if (lock !== undefined) logger.warn({ lock: tool.lock.path }, lock);
  const families = await usableFamilies(tool, logger);
  const generations = variant === 'nft' ? openGenerations(logger) : undefined;
  // Both families share it, since the kernel counts their commits together.
  const generationWatch = generations && new GenerationWatch(generations);
  return {
    tool,
    variant,
    means: { variant, iptables: version, because: reason },
    families,
    variantMix: new VariantMix(() => tool.rulesOfOtherVariant(), new SystemClock()),
    watch: (family) => (variant === 'legacy' ? new LegacyWatch(family) : generationWatch),
    async close() {
      tool.close();
      await generations?.close();
    },
  };
}

/**
 * Removes what a mode makes in iptables, of both variants, except what the active mode has there.
 * @returns the places that it could not check, for people
 */
export function removeFromIptables(
  ownedChains: (saved: SavedTables, family: IpFamily) => OwnedChains,
  beside: ActiveRules | undefined,
  logger: Logger,
  families: readonly IpFamily[] = IP_FAMILIES,
): Promise<readonly string[]> {
  return withEachVariant(families, async (tool, variant, family) => {
    const kept = beside?.variant === variant ? beside.ownedChains : undefined;
    const host = new IptablesHostReader(tool, undefined, logger);
    const cleanUp = (saved: SavedTables, limit: number) =>
      cleanUpScripts(saved, ownedChains(saved, family), kept, limit);
    await new IptablesDriver(family, tool, undefined, () => host.read(family), logger, { cleanUp }).cleanup();
  });
}

/**
 * Looks into both variants, since the rules may have been written by either, and continues when one of them fails. Where the
 * kernel has no rules of a kind, its tool is not asked: that takes long, and makes empty tables.
 * @returns the places that it could not check, for people
 */
export async function withEachVariant(
  families: readonly IpFamily[],
  work: (tool: IptablesTool, variant: IptablesVariant, family: IpFamily) => Promise<void>,
): Promise<readonly string[]> {
  const unseen: string[] = [];
  await attemptEach(['nft', 'legacy'] as const, async (variant) => {
    const tool = new IptablesTool({ variant });
    try {
      await attemptEach(families, async (family) => {
        if (!(await mayHold(variant, family))) return;
        const problem = await tool.problem(family);
        if (problem === undefined) await work(tool, variant, family);
        else unseen.push(`cannot check for rules of iptables-${variant} (${family}): ${problem}`);
      });
    } finally {
      tool.close();
    }
  });
  return unseen;
}

/** Whether the kernel may hold rules of ours that this variant wrote, as far as can be seen without the tool. */
async function mayHold(variant: IptablesVariant, family: IpFamily): Promise<boolean> {
  if (variant === 'legacy') return legacyTables(family)?.length !== 0;
  try {
    return holdsProxyChains(await listChains(family));
  } catch {
    return true;
  }
}

function openGenerations(logger: Logger): NetlinkNftTransport | undefined {
  try {
    return NetlinkNftTransport.open();
  } catch (error) {
    logger.warn(
      { error },
      'netlink is unavailable: changes of iptables by other programs are found by listing',
    );
    return undefined;
  }
}

async function usableFamilies(tool: IptablesTool, logger: Logger): Promise<readonly IpFamily[]> {
  const problems = new Map<IpFamily, string>();
  const supported = supportedFamilies();
  for (const family of IP_FAMILIES) {
    const problem = supported.includes(family)
      ? await tool.problem(family)
      : 'disabled in this kernel or network namespace';
    if (problem !== undefined) problems.set(family, problem);
  }
  if (problems.size === IP_FAMILIES.length) {
    const reasons = [...problems].map(([family, problem]) => `${family}: ${problem}`);
    throw new Error(`iptables is not available on this host: ${reasons.join('; ')}`);
  }
  for (const [family, problem] of problems)
    logger.info({ family, problem }, 'iptables cannot serve this family; serving only the other one');
  return IP_FAMILIES.filter((family) => !problems.has(family));
}
