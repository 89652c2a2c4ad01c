import { RefusedError } from '../../../application/ports/driver/driver.js';
import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import { lackingText } from '../detection/kernel-matches.js';
import { IptablesTemporaryError, RestoreRefusedError } from '../errors.js';
import { extensionOf } from '../tool/restore-messages.js';
import type { RestoreScript } from './restore-script.js';
import type { DifferenceOptions, TablesDifference } from './tables-difference.js';

/** A rule of another program leads to a chain that was to be removed. */
const CHAIN_IN_USE = /CHAIN_(?:USER_)?DEL failed \(Device or resource busy\)/;

/** Why a restore failed: a refusal, with who is behind it, or the error itself. */
export function failureOf(error: unknown, script: RestoreScript): unknown {
  if (error instanceof RestoreRefusedError) return refusalOf(error, script);
  // To wait would change nothing. Who reads the rules back finds which chains can go.
  if (error instanceof IptablesTemporaryError && CHAIN_IN_USE.test(error.message))
    return new RefusedError(error, new Map(), new Set(), true);
  return error;
}

/**
 * Who is behind a refusal: the owners of the lines that the tool named, and all owners of lines with a match that the kernel
 * lacks, each with the reason.
 */
function refusalOf(cause: RestoreRefusedError, script: RestoreScript): RefusedError {
  const failures = new Map(cause.failures.map((failure) => [failure.line, failure]));
  const named = new Map<ServicePortKey, string>();
  const withoutMatch = new Map<ServicePortKey, string>();
  const suspects = new Set<ServicePortKey>();
  let refusedCommit: number | undefined;
  script.forEachLine(({ number, text, owner, isKnown, commit }) => {
    const failure = failures.get(number);
    if (failure) refusedCommit ??= commit;
    if (owner === undefined) return;
    if (!isKnown) suspects.add(owner);
    if (failure) named.set(owner, `iptables refused \`${text}': ${failure.reason}${advice(failure, text)}`);
    const lacking = cause.lacking.find((match) => text.includes(`-m ${match} `));
    if (lacking !== undefined) withoutMatch.set(owner, lackingText(lacking));
  });
  return new RefusedError(cause, new Map([...named, ...withoutMatch]), suspects, refusedCommit !== 0);
}

function advice({ reason, missing }: RestoreRefusedError['failures'][number], text: string): string {
  const lacking = missing ?? (/No such file/.test(reason) ? extensionOf(text) : undefined);
  return lacking === undefined ? '' : `; load the kernel module for \`${lacking}'`;
}

/**
 * Another way to put shared chains right. To write one anew takes the rules of all its service ports, also those that the kernel
 * has and would not take again; to delete single rules takes a tool that reads its own words for rules of other programs.
 */
export function otherWay(
  { culprits }: RefusedError,
  { rewritesShared, deletesByText }: TablesDifference,
): DifferenceOptions['shared'] {
  if (rewritesShared) return 'rule by rule';
  return deletesByText && culprits.size === 0 ? 'rewritten' : undefined;
}
