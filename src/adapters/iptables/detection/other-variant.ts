import { errorMessage } from '../../../application/error-message.js';
import { IP_FAMILIES, type IpFamily } from '../../../domain/net/ip-family.js';
import type { IptablesVariant } from '../iptables-commands.js';
import { program, type ProgramRunner } from './choose-variant.js';

/** What shows the rules of both variants. */
export interface VariantSigns extends Pick<ProgramRunner, 'output' | 'legacyTables'> {
  /** The names of the tables of nf_tables that have rules. */
  nftTables(family: IpFamily): Promise<readonly string[]>;
}

/** Those that iptables-nft makes; other programs of nf_tables have names of their own. */
const TABLES = ['raw', 'mangle', 'nat', 'filter', 'security'];

/**
 * Which rules there are of the variant that is not used here, for people: packets meet them as well, while the programs of one
 * variant do not see what those of the other one wrote.
 */
export async function rulesOfOtherVariant(
  used: IptablesVariant,
  signs: VariantSigns,
): Promise<readonly string[]> {
  const other = used === 'nft' ? 'legacy' : 'nft';
  const places: string[] = [];
  for (const family of IP_FAMILIES) {
    try {
      const found = await (used === 'nft' ? legacyRules(family, signs) : nftRules(family, signs));
      if (found !== undefined) places.push(`${family}: ${found}`);
    } catch (error) {
      places.push(`${family}: unknown, since ${errorMessage(error)}`);
    }
  }
  if (places.length === 0) return [];
  return [
    `this proxy writes with iptables-${used}, and there are rules of iptables-${other} (${places.join('; ')}): packets meet both, ` +
      `but neither of the two shows the rules of the other; let all programs of this node use the same one`,
  ];
}

async function legacyRules(family: IpFamily, signs: VariantSigns): Promise<string | undefined> {
  const present = signs.legacyTables(family);
  if (present?.length === 0) return undefined;
  const save = program('iptables-legacy', family, 'save');
  const saved = await signs.output(save, []);
  if (saved === undefined)
    return (
      present && `tables ${present.join(', ')}, perhaps empty: ${save} would tell, but does not work here`
    );
  const tables = saved.split(/^\*/m).filter((table) => /^-A /m.test(table));
  return inTables(tables.map((table) => table.split('\n', 1)[0]!));
}

async function nftRules(family: IpFamily, signs: VariantSigns): Promise<string | undefined> {
  const tables = await signs.nftTables(family);
  return inTables(TABLES.filter((name) => tables.includes(name)));
}

function inTables(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `in ${names.join(', ')}`;
}
