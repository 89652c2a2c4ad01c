/** The words of a line of a restore, with what stands in double quotes as one, as the tools split them. */
export function wordsOf(line: string): readonly string[] {
  if (!line.includes('"')) return line.split(/[ \t]+/).filter((word) => word !== '');
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    let letter = line[at]!;
    if (isQuoted && letter === '"') isQuoted = false;
    else if (!isQuoted && letter === '"') {
      isQuoted = true;
      word ??= '';
    } else if (!isQuoted && (letter === ' ' || letter === '\t')) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      if (isQuoted && letter === '\\' && at + 1 < line.length) letter = line[++at]!;
      word = (word ?? '') + letter;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

const PLAIN = /^[-\w]+$/;

/** A text as iptables-save prints it. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? text : `"${text.replace(/["\\']/g, '\\$&')}"`;
}
