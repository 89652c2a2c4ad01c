import { reportsTemporary } from '../../netlink/errno.js';
import {
  IptablesKernelError,
  IptablesTemporaryError,
  RestoreRefusedError,
  XtablesLockedError,
  XtablesLockFileError,
} from '../errors.js';
import { ToolFailedError, ToolPermissionError, type ToolError } from '../../tool-programs.js';
import { namesKernelsReason, readLacking, readRestoreFailures } from './restore-messages.js';

const LOCKED = /holding the xtables lock/;
const LOCK_FILE = /can't open lock file/;
const NOT_PERMITTED = /Permission denied|Operation not permitted|you must be root/;
/** No nf_tables, or not for this family; no ip_tables, or not this table of it. */
const NO_KERNEL =
  /Failed to initialize nft|TABLE_ADD failed \(Operation not supported\)|(?:unable to|can't) initialize .*table/;

/**
 * What is wrong with a tool or its host, whatever the rules, by what the tool wrote to stderr. Undefined when it complains
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
const REFUSING = [1, 2];

/** With which iptables-nft ends, too, whatever the kernel has against a rule: then only its words tell. */
export const RESOURCE_PROBLEM = 4;

/**
 * Why a restore failed. It is a refusal of the input only if the tool says so: by its exit status or the kernel's reason, and by
 * naming a line. A resource problem, a tool that was killed, and a kernel that is out of memory or busy are none.
 */
export function restoreFailure(
  attempt: string,
  exitCode: number,
  messages: string,
  lock: { readonly path: string; readonly waitedSeconds: number },
): ToolError | RestoreRefusedError {
  const known = knownFailure(attempt, messages, lock);
  if (known) return known;
  const said = messages.trim() || 'no reason given';
  const isRefused = exitCode === RESOURCE_PROBLEM && namesKernelsReason(messages);
  if (reportsTemporary(messages) || (exitCode === RESOURCE_PROBLEM && !isRefused))
    return new IptablesTemporaryError(attempt, said);
  const failures = readRestoreFailures(messages);
  if (!(isRefused || REFUSING.includes(exitCode)) || failures.every(({ line }) => line === undefined))
    return new ToolFailedError(attempt, `exit status ${exitCode}: ${said}`);
  return new RestoreRefusedError(attempt, failures, readLacking(messages));
}
