import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { type ParsedTable, TableParser } from '../../../src/domain/nftables/parse-text.js';

/** Reads a whole listing: what renderTable wrote, or `nft --numeric-priority --numeric-time list table`. */
export function parseTable(family: IpFamily, text: string): ParsedTable {
  const parser = new TableParser(family, () => true);
  parser.push(text);
  return parser.end();
}
