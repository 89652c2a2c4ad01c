import type { IpFamily } from '../../../domain/net/ip-family.js';
import { parseRule } from '../../../domain/nftables/text/parse-rule.js';
import type { ParsedChain, ParsedSet } from '../../../domain/nftables/text/parse-text.js';
import { renderDeclaration, setKeyword } from '../../../domain/nftables/text/render-set.js';
import { renderHook, renderRule } from '../../../domain/nftables/text/render-text.js';
import { UnsafeTextError } from '../../../domain/nftables/text/safe-text.js';
import type { Hook, SetDefinition } from '../../../domain/nftables/layout/table.js';

/** Describes a chain without its rules. */
export function describeHook(hook: Hook | undefined): string {
  return hook ? renderHook(hook) : 'regular chain';
}

export function describeChain(chain: ParsedChain): string {
  return chain.otherHook ?? describeHook(chain.hook);
}

/** Describes a set without its elements and its comment: a set is not recreated because of a comment. */
export function describeSet(family: IpFamily, set: SetDefinition): string {
  return `${setKeyword(set)} ${renderDeclaration(family, { ...set, comment: undefined }).join('; ')}`;
}

export function describeParsedSet(family: IpFamily, set: ParsedSet): string {
  return set.definition ? describeSet(family, set.definition) : `other: ${set.declaration}`;
}

/** A listed rule in our own form, or as listed if it is not one of ours. */
export function describeRule(family: IpFamily, text: string): string {
  const rule = parseRule(family, text);
  if (!rule) return text;
  try {
    return renderRule(family, rule);
  } catch (error) {
    if (error instanceof UnsafeTextError) return text;
    throw error;
  }
}
