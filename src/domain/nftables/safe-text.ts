import { NamedError } from '../model/named-error.js';
import type { KernelVerdict } from './kernel/ruleset.js';
import { displayName, type ServicePortName } from '../model/service-port-name.js';

/**
 * The last checks before text is written to the kernel, or printed for `nft -f`. They are cheap enough for every element of a
 * large set, and are independent of services.
 */

/** Text that cannot be written. The value is quoted and shortened. */
export class UnsafeTextError extends NamedError {
  constructor(
    readonly what: string,
    readonly text: string,
    expected: string,
  ) {
    super(
      `${what} ${JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)} cannot be written to nftables: ${expected}`,
    );
  }
}

const NAME = /^[A-Za-z][A-Za-z0-9_./-]{0,254}$/;
const INTERFACE = /^[\x21-\x7e]{1,15}$/;
const INTERFACE_FORBIDDEN = /["\\*/]/;
const COMMENT = /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,128}$/;

/** nft's limit for comments of rules, elements and objects. */
export const MAX_COMMENT_LENGTH = 128;

/** The name of a chain, set or map: one word for nft (the kernel allows 255 bytes). */
export function safeName(name: string): string {
  if (!NAME.test(name))
    throw new UnsafeTextError(
      'name',
      name,
      'letters, digits, "_", ".", "/" and "-" after a letter, at most 255',
    );
  return name;
}

/** An interface name, written in quotes. */
export function safeInterface(name: string): string {
  if (!INTERFACE.test(name) || INTERFACE_FORBIDDEN.test(name)) {
    throw new UnsafeTextError(
      'interface name',
      name,
      '1 to 15 visible ASCII characters other than quote, backslash, "*" and "/"',
    );
  }
  return name;
}

/** A comment, written in quotes. */
export function safeComment(comment: string): string {
  if (!COMMENT.test(comment)) {
    throw new UnsafeTextError(
      'comment',
      comment,
      `1 to ${MAX_COMMENT_LENGTH} ASCII characters other than quote, backslash and control characters`,
    );
  }
  return comment;
}

const VERDICT = /^(?:(goto|jump) (.+)|drop|return|accept)$/;

/** Reads a verdict as a map holds it. */
export function parseVerdict(text: string): KernelVerdict {
  const [, code, chain] = VERDICT.exec(text) ?? [];
  if (chain !== undefined) return { code: code as 'goto' | 'jump', chain: safeName(chain) };
  if (!VERDICT.test(text))
    throw new UnsafeTextError('verdict', text, '"goto CHAIN", "jump CHAIN", "drop", "return" or "accept"');
  return { code: text as 'drop' | 'return' | 'accept' };
}

/** The comment of a frontend's elements, which names its service port. nft rejects longer ones, and with them the whole transaction. */
export function frontendComment(name: ServicePortName): string {
  return displayName(name).slice(0, MAX_COMMENT_LENGTH);
}
