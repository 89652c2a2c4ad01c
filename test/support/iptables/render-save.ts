import type { SavedTables } from '../../../src/domain/iptables/saved-tables.js';

/** Writes tables as iptables-save does, without counters and comment lines. Every line ends in a line feed. */
export function renderSave(tables: SavedTables): string {
  const lines: string[] = [];
  for (const { name, chains } of tables) {
    lines.push(`*${name}`);
    for (const chain of chains) lines.push(`:${chain.name} ${chain.policy ?? '-'} [0:0]`);
    for (const chain of chains)
      for (const rule of chain.rules)
        lines.push(rule === '' ? `-A ${chain.name}` : `-A ${chain.name} ${rule}`);
    lines.push('COMMIT');
  }
  return lines.map((line) => `${line}\n`).join('');
}
