import type { RestoreOptions } from './restore.js';
import type { SaveOptions } from './save.js';

export function optionsOfRestore(words: readonly string[]): RestoreOptions {
  const wait = words.findIndex((word) => word === '-w' || word === '--wait');
  return {
    keeps: words.includes('--noflush') || words.includes('-n'),
    onlyTests: words.includes('--test') || words.includes('-t'),
    wait: wait < 0 ? undefined : secondsIn(words[wait + 1]),
    table: valueOf(words, '-T', '--table'),
  };
}

export function optionsOfSave(words: readonly string[]): SaveOptions {
  return {
    table: valueOf(words, '-t', '--table'),
    hasCounters: words.includes('-c') || words.includes('--counters'),
  };
}

function secondsIn(word: string | undefined): number {
  return word !== undefined && /^\d+$/.test(word) ? Number(word) : Infinity;
}

function valueOf(words: readonly string[], ...names: readonly string[]): string | undefined {
  const at = words.findIndex((word) => names.includes(word));
  return at < 0 ? undefined : words[at + 1];
}
