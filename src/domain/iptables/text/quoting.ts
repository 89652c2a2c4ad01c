import { UnsafeRuleTextError } from './unsafe-rule-text-error.js';

/** What iptables-save leaves without quotes (xtables_save_string in libxtables). */
const BARE = /^[-\w]+$/;
const ESCAPED = /["\\']/g;
/** XT_MAX_COMMENT_LEN, less the final zero. */
const MAX_COMMENT_BYTES = 255;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f\u2028\u2029]/;

/** A text as iptables-save prints it: in quotes unless it is a plain word, quotes and backslashes escaped. */
export function quoted(text: string): string {
  return BARE.test(text) ? text : `"${text.replace(ESCAPED, '\\$&')}"`;
}

/**
 * The comment match. What is longer than the kernel takes is cut off.
 * @throws UnsafeRuleTextError on control characters, which would end the line
 */
export function comment(text: string): string {
  checkComment(text);
  return `-m comment --comment ${quoted(shortened(text))}`;
}

/** @throws UnsafeRuleTextError where `comment` does */
export function checkComment(text: string): void {
  if (CONTROL.test(text)) throw new UnsafeRuleTextError('comment', text);
}

const encoder = new TextEncoder();

function shortened(text: string): string {
  if (text.length * 3 <= MAX_COMMENT_BYTES || encoder.encode(text).length <= MAX_COMMENT_BYTES) return text;
  let length = 0;
  let kept = '';
  for (const character of text) {
    length += encoder.encode(character).length;
    if (length > MAX_COMMENT_BYTES) break;
    kept += character;
  }
  return kept;
}
