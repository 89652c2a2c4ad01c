import type { RestoreFailure } from '../errors.js';

/** `line 4: RULE_APPEND failed (Invalid argument): rule in chain A1`, iptables-nft-restore's words for the kernel's. */
const REFUSED_BY_KERNEL = /^(?:.*: )?line (\d+): (\w+) failed \((.*)\): (.*)$/;
/** `iptables-restore: line 5 failed`, and iptables-nft-restore's with a reason behind it. */
const FAILED_LINE = /: line (\d+) failed(?:: (.*))?$/;
/** `Error occurred at line: 3`, below what is wrong there. */
const PARSE_ERROR = /^Error occurred at line: (\d+)$/;
const PROGRAM = /^ip6?tables[\w-]* v[\d.]+ \(\w+\): /;
const MISSING_EXTENSION = /Couldn't load (?:match|target) `([^']+)'/;
const HINT = /^Try `/;

/** Whether iptables-nft-restore says what the kernel had against a line. */
export function namesKernelsReason(messages: string): boolean {
  return messages.split('\n').some((text) => REFUSED_BY_KERNEL.test(text.trim()));
}

/** Reads what a restore wrote to stderr: one failure for each line that it names, or one without a line. */
export function readRestoreFailures(messages: string): readonly RestoreFailure[] {
  const failures: RestoreFailure[] = [];
  const remarks: string[] = [];
  for (const text of messages.split('\n').map((line) => line.trim())) {
    const kernel = REFUSED_BY_KERNEL.exec(text);
    const failed = FAILED_LINE.exec(text);
    const parse = PARSE_ERROR.exec(text);
    if (kernel) {
      const [, line, operation, reason, subject] = kernel;
      failures.push({ line: Number(line), reason: `${operation} of ${subject}: ${reason}` });
    } else if (failed) {
      failures.push({ line: Number(failed[1]), reason: failed[2] ?? 'the kernel refused it' });
    } else if (parse) {
      failures.push({ line: Number(parse[1]), ...remarked(remarks.splice(0)) });
    } else if (text !== '' && !HINT.test(text)) {
      remarks.push(text.replace(PROGRAM, ''));
    }
  }
  return failures.length > 0 ? failures : [remarked(remarks)];
}

/** `Warning: Extension statistic revision 0 not supported, missing kernel module?`, of both variants. */
const UNSUPPORTED = /^Warning: Extension (\S+) revision 0 not supported, missing kernel module\?$/gm;

/** The matches and targets of which a tool says that this kernel lacks them. */
export function readLacking(messages: string): readonly string[] {
  return [...new Set([...messages.matchAll(UNSUPPORTED)].map(([, name]) => name!))];
}

function remarked(remarks: readonly string[]): Omit<RestoreFailure, 'line'> {
  const reason = remarks.filter((remark) => !/^Warning/.test(remark)).join(' ') || 'the tool gave no reason';
  const missing = MISSING_EXTENSION.exec(reason)?.[1];
  return missing === undefined ? { reason } : { reason, missing };
}

/** The match that a rule needs besides those that every kernel with iptables has, for the message that it is missing. */
export function extensionOf(line: string): string | undefined {
  return /-m (statistic|recent|nfacct|addrtype)\b/.exec(line)?.[1];
}
