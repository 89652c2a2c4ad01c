import type { IpFamily } from '../../net/ip-family.js';
import { addressBits } from '../../net/cidr.js';
import { quoted } from './quoting.js';
import type { RuleText } from '../table.js';

/** Signs of a text that is not canonical yet. Most are, so that one test is all they cost. */
const SUSPECT =
  / {2}|^ | $|--comment [^"]|--comment "[-\w]+"|\\|-[sd] [^/ ]+(?: |$)|0x0[0-9a-f]|0x[0-9a-f]*[A-F]/;
const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;
const HEXADECIMAL = /0x([0-9a-f]+)/gi;

/**
 * A rule in the one form in which equal rules have equal texts: iptables 1.8's. Blanks are single, comments quoted only
 * where they must be, addresses have their length, marks no leading zeros. Order is kept: it is the tool's own.
 */
export function canonicalRule(text: string, family: IpFamily): RuleText {
  if (!SUSPECT.test(text)) return text;
  const words: string[] = [];
  let previous = '';
  for (const [, inQuotes, bare] of text.matchAll(WORD)) {
    const word = inQuotes === undefined ? bare! : inQuotes.replace(/\\(.)/g, '$1');
    words.push(canonicalWord(word, previous, inQuotes !== undefined, family));
    previous = inQuotes === undefined ? word : '';
  }
  return words.join(' ');
}

function canonicalWord(word: string, option: string, wasQuoted: boolean, family: IpFamily): string {
  switch (option) {
    case '--comment':
      return quoted(word);
    case '-s':
    case '-d':
      return word.includes('/') ? word : `${word}/${addressBits(family)}`;
    case '--mark':
    case '--set-xmark':
      return word.replace(HEXADECIMAL, (_, digits: string) => `0x${BigInt(`0x${digits}`).toString(16)}`);
    default:
      return wasQuoted ? quoted(word) : word;
  }
}
