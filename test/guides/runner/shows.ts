/**
 * Whether a text is as a page shows it. `…` in a line stands for anything in that line, a line of `…` alone for any lines.
 * Space at the ends of lines and of the text does not count.
 */
export function shows(page: string, text: string): boolean {
  const quoted = tidy(page)
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/^…\n/gm, '(?:.*\n)*')
    .replace(/\n…$/, '(?:\n.*)*')
    .replaceAll('…', '.*');
  return new RegExp(`^${quoted}$`).test(tidy(text));
}

function tidy(text: string): string {
  return text.replace(/[ \t]+$/gm, '').trim();
}
