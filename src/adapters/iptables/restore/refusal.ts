import { RefusedError } from '../../../application/ports/driver/driver.js';
import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import { lackingText } from '../detection/kernel-matches.js';
import type { RestoreRefusedError } from '../errors.js';
import { extensionOf } from '../tool/restore-messages.js';
import type { RestoreScript } from './restore-script.js';

/**
 * Who is behind a refusal: the owners of the lines that the tool named, and all owners of lines with a match that the kernel
 * lacks, each with the reason.
 */
export function refusalOf(cause: RestoreRefusedError, script: RestoreScript): RefusedError {
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
