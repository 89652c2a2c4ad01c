import { canonicalRule } from '../../domain/iptables/saved-tables.js';
import type { RuleText, TableName } from '../../domain/iptables/table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { USERSPACE_BASE_RULES } from '../../domain/userspace/portals.js';
import { RestoreRejectedError, type IptablesCommands } from '../iptables/iptables-commands.js';
import { RestoreScript } from '../iptables/restore-script.js';

interface PresentJump {
  readonly chain: string;
  readonly rule: RuleText;
}

/**
 * Removes the chains of userspace mode and the jumps to them (docs/internals/spec/userspace.md §7), and nothing else. It looks for the
 * first chain of each table only, which is the last to go: so it costs next to nothing where there is none, however many
 * rules others have. Rejects when some chain cannot go, after it has removed the others.
 */
export async function removePortals(commands: IptablesCommands, family: IpFamily): Promise<void> {
  const errors: unknown[] = [];
  for (const table of ['nat', 'filter'] as const) {
    const [first, ...others] = USERSPACE_BASE_RULES.shared.filter((chain) => chain.table === table);
    if (!(await commands.listChain(family, table, first!.name))) continue;
    const jumps = await presentJumps(commands, family, table);
    if (jumps.length > 0) await commands.restore(family, jumpRemoval(table, jumps));
    const before = errors.length;
    for (const { name } of [...others, first!]) {
      if (name === first!.name && errors.length > before) break;
      try {
        await commands.restore(family, chainRemoval(table, name));
      } catch (error) {
        if (!(error instanceof RestoreRejectedError)) throw error;
        errors.push(error);
      }
    }
  }
  if (errors.length > 0)
    throw new AggregateError(
      errors,
      `cannot remove all chains of userspace mode from iptables for ${family}`,
    );
}

async function presentJumps(
  commands: IptablesCommands,
  family: IpFamily,
  table: TableName,
): Promise<readonly PresentJump[]> {
  const present: PresentJump[] = [];
  const jumps = USERSPACE_BASE_RULES.jumps.filter((jump) => jump.table === table);
  for (const chain of new Set(jumps.map((jump) => jump.chain))) {
    const listed = (await commands.listChain(family, table, chain)) ?? [];
    for (const rule of listed.map((text) => canonicalRule(text, family)))
      if (jumps.some((jump) => jump.chain === chain && jump.rule === rule)) present.push({ chain, rule });
  }
  return present;
}

function jumpRemoval(table: TableName, jumps: readonly PresentJump[]): RestoreScript {
  return new RestoreScript(function* (lines) {
    for (const { chain, rule } of jumps) yield lines.delete(table, chain, rule);
  });
}

/** A missing chain is created first, which is less work than a query. */
function chainRemoval(table: TableName, name: string): RestoreScript {
  return new RestoreScript(function* (lines) {
    yield lines.declare(table, name);
    yield lines.remove(table, name);
  });
}
