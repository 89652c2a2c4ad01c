/**
 * Whether a text is as a page shows it. `…` in a line stands for anything in that line, a line of `…` alone for any lines.
 * How much space there is between words does not count, nor does space at the ends of lines and of the text.
 */
export function shows(page: string, text: string): boolean {
  const lines = tidy(page)
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\n)*' : `${quoted(line)}\n`));
  return new RegExp(`^${lines.join('')}$`).test(`${tidy(text)}\n`);
}

function quoted(line: string): string {
  return line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*');
}

function tidy(text: string): string {
  return text
    .replace(/[ \t]+/g, ' ')
    .replace(/ $/gm, '')
    .trim();
}
