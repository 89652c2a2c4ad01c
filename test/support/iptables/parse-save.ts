import { SaveReader, type SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';

/** Reads at once what the program reads piece by piece. */
export function parseSave(text: string, family: IpFamily): SavedTables {
  const reader = new SaveReader(family);
  reader.read(text);
  return reader.finish();
}
