import {
  IptablesKernelError,
  IptablesPermissionError,
  XtablesLockedError,
  XtablesLockFileError,
  type IptablesToolError,
} from '../errors.js';

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
): IptablesToolError | undefined {
  for (const text of messages.split('\n').map((line) => line.trim())) {
    if (LOCKED.test(text)) return new XtablesLockedError(attempt, lock.waitedSeconds, lock.path);
    if (LOCK_FILE.test(text)) return new XtablesLockFileError(attempt, lock.path, text);
    if (NOT_PERMITTED.test(text)) return new IptablesPermissionError(attempt, text);
    if (NO_KERNEL.test(text)) return new IptablesKernelError(attempt, text);
  }
  return undefined;
}
