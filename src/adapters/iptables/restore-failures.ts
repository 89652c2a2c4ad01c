/** Why iptables-restore failed, read from its messages, and which service ports it concerns. */

import { RejectedError } from '../../application/ports/driver.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { reportsTemporary } from '../netlink/errors.js';
import { ToolFailedError, ToolPermissionError, type ToolError } from '../tool-programs.js';
import {
  IptablesKernelError,
  IptablesTemporaryError,
  RestoreRejectedError,
  XtablesLockedError,
  XtablesLockFileError,
  type RestoreFailure,
} from './iptables-commands.js';
import type { RestoreScript } from './restore-script.js';
import type { DifferenceOptions, TablesDifference } from './tables-difference.js';

const LOCKED = /holding the xtables lock/;
const LOCK_FILE = /can't open lock file/;
const NOT_PERMITTED = /Permission denied|Operation not permitted|you must be root/;

/** No nf_tables, or not for this family; no ip_tables, or not this table of it. */
const NO_KERNEL =
  /Failed to initialize nft|TABLE_ADD failed \(Operation not supported\)|(?:unable to|can't) initialize .*table/;

/**
 * The problem of a tool or its host, independent of the rules, from the tool's stderr. Undefined when it complains
 * about something else.
 */
export function knownFailure(
  attempt: string,
  messages: string,
  lock: { readonly path: string; readonly waitedSeconds: number },
): ToolError | undefined {
  for (const text of messages.split('\n').map((line) => line.trim())) {
    if (LOCKED.test(text)) return new XtablesLockedError(attempt, lock.waitedSeconds, lock.path);
    if (LOCK_FILE.test(text)) return new XtablesLockFileError(attempt, lock.path, text);
    if (NOT_PERMITTED.test(text)) return new ToolPermissionError(attempt, text);
    if (NO_KERNEL.test(text)) return new IptablesKernelError(attempt, text);
  }
  return undefined;
}

/** Exit statuses with which a restore ends when it does not take its input: other problem, parameter problem. */
const REJECTING = [1, 2];

/** The exit status of iptables-nft for rejections by the kernel, too: only its message distinguishes them. */
export const RESOURCE_PROBLEM = 4;

/**
 * Why a restore failed. It is a rejection of the input only if the tool reports one: by its exit status or the kernel's reason, and by
 * naming a line. A resource problem, a tool that was killed, and a kernel that is out of memory or busy are none.
 */
export function restoreFailure(
  attempt: string,
  exitCode: number,
  messages: string,
  lock: { readonly path: string; readonly waitedSeconds: number },
): ToolError | RestoreRejectedError {
  const known = knownFailure(attempt, messages, lock);
  if (known) return known;
  const message = messages.trim() || 'no reason given';
  const isRefused = exitCode === RESOURCE_PROBLEM && namesKernelsReason(messages);
  if (reportsTemporary(messages) || (exitCode === RESOURCE_PROBLEM && !isRefused))
    return new IptablesTemporaryError(attempt, message);
  const failures = readRestoreFailures(messages);
  if (!(isRefused || REJECTING.includes(exitCode)) || failures.every(({ line }) => line === undefined))
    return new ToolFailedError(attempt, `exit status ${exitCode}: ${message}`);
  return new RestoreRejectedError(attempt, failures, readLacking(messages));
}

/** `line 4: RULE_APPEND failed (Invalid argument): rule in chain A1`, iptables-nft-restore's words for the kernel's. */
const REFUSED_BY_KERNEL = /^(?:.*: )?line (\d+): (\w+) failed \((.*)\): (.*)$/;

/** `iptables-restore: line 5 failed`, and iptables-nft-restore's with a reason behind it. */
const FAILED_LINE = /: line (\d+) failed(?:: (.*))?$/;

/** `Error occurred at line: 3`, below what is wrong there. */
const PARSE_ERROR = /^Error occurred at line: (\d+)$/;
const PROGRAM = /^ip6?tables[\w-]* v[\d.]+ \(\w+\): /;
const MISSING_EXTENSION = /Couldn't load (?:match|target) `([^']+)'/;
const HINT = /^Try `/;

/** Whether iptables-nft-restore reports the kernel's error for a line. */
function namesKernelsReason(messages: string): boolean {
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
      failures.push({ line: Number(failed[1]), reason: failed[2] ?? 'the kernel rejected it' });
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

/** The matches and targets that this kernel lacks, according to a tool. */
export function readLacking(messages: string): readonly string[] {
  return [...new Set([...messages.matchAll(UNSUPPORTED)].map(([, name]) => name!))];
}

function remarked(remarks: readonly string[]): Omit<RestoreFailure, 'line'> {
  const reason = remarks.filter((remark) => !/^Warning/.test(remark)).join(' ') || 'the tool gave no reason';
  const missing = MISSING_EXTENSION.exec(reason)?.[1];
  return missing === undefined ? { reason } : { reason, missing };
}

/** The match that a rule needs besides those that every kernel with iptables has, for the message that it is missing. */
function extensionOf(line: string): string | undefined {
  return /-m (statistic|recent|nfacct|addrtype)\b/.exec(line)?.[1];
}

/** A match of the mode's rules. */
interface KernelMatch {
  /** A rule that shows whether the kernel has it. */
  readonly trial: string;
  /** The consequence of a kernel without it. */
  readonly without: string;
}

const NOTHING = 'no rules can be programmed';

/** The matches that the rules of the mode are made of. Each is a kernel module of its own, `xt_statistic`. */
export const KERNEL_MATCHES: Readonly<Record<string, KernelMatch>> = {
  statistic: {
    trial: '-m statistic --mode random --probability 0.5',
    without: 'service ports with several endpoints cannot be programmed',
  },
  recent: {
    trial: '-m recent --name KUBE-TRIAL --rcheck',
    without: 'service ports with session affinity cannot be programmed',
  },
  nfacct: { trial: '-m nfacct --nfacct-name trial', without: 'rules have no counters' },
  addrtype: {
    trial: '-m addrtype --dst-type LOCAL',
    without: 'node ports and external traffic policies cannot be programmed',
  },
  comment: { trial: '-m comment --comment trial', without: NOTHING },
  conntrack: { trial: '-m conntrack --ctstate NEW', without: NOTHING },
  mark: { trial: '-m mark --mark 0x1', without: NOTHING },
};

/** The message about a match that the kernel lacks. */
export function lackingText(match: string): string {
  const known = KERNEL_MATCHES[match];
  const consequence = known ? `: ${known.without}` : '';
  return `this kernel lacks the iptables match \`${match}' (module xt_${match})${consequence}`;
}

/** A rule of another program leads to a chain that was to be removed. */
const CHAIN_IN_USE = /CHAIN_(?:USER_)?DEL failed \(Device or resource busy\)/;

/** Why a restore failed: a rejection, with who is behind it, or the error itself. */
export function failureOf(error: unknown, script: RestoreScript): unknown {
  if (error instanceof RestoreRejectedError) return rejectionOf(error, script);
  // To wait would change nothing. Who reads the rules back finds which chains can go.
  if (error instanceof IptablesTemporaryError && CHAIN_IN_USE.test(error.message))
    return new RejectedError(error, new Map(), new Set(), true);
  return error;
}

/**
 * Who is behind a rejection: the owners of the lines that the tool named, and all owners of lines with a match that the kernel
 * lacks, each with the reason.
 */
function rejectionOf(cause: RestoreRejectedError, script: RestoreScript): RejectedError {
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
    if (failure) named.set(owner, `iptables rejected \`${text}': ${failure.reason}${advice(failure, text)}`);
    const lacking = cause.lacking.find((match) => text.includes(`-m ${match} `));
    if (lacking !== undefined) withoutMatch.set(owner, lackingText(lacking));
  });
  return new RejectedError(cause, new Map([...named, ...withoutMatch]), suspects, refusedCommit !== 0);
}

function advice({ reason, missing }: RestoreRejectedError['failures'][number], text: string): string {
  const lacking = missing ?? (/No such file/.test(reason) ? extensionOf(text) : undefined);
  return lacking === undefined ? '' : `; load the kernel module for \`${lacking}'`;
}

/**
 * Another method of repairing shared chains. Rewriting one needs the rules of all its service ports, also those that the kernel
 * has and would not take again; to delete single rules takes a tool that reads its own words for rules of other programs.
 */
export function otherWay(
  { rejectedPorts }: RejectedError,
  { rewritesShared, deletesByText }: TablesDifference,
): DifferenceOptions['shared'] {
  if (rewritesShared) return 'rule by rule';
  return deletesByText && rejectedPorts.size === 0 ? 'rewritten' : undefined;
}
