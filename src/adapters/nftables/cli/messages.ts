import type { NftFailure } from '../transport.js';
import type { NftScript } from './script.js';

/** The C library's texts for the errors of nf_tables (docs/spec/nft-netlink.md §14), and their names. */
const ERROR_NAMES: Readonly<Record<string, string>> = {
  'No such file or directory': 'ENOENT',
  'File exists': 'EEXIST',
  'Device or resource busy': 'EBUSY',
  'Invalid argument': 'EINVAL',
  'Operation not supported': 'EOPNOTSUPP',
  'Cannot allocate memory': 'ENOMEM',
  'Too many open files in system': 'ENFILE',
  'Numerical result out of range': 'ERANGE',
  'Value too large for defined data type': 'EOVERFLOW',
  'Too many links': 'EMLINK',
  'No buffer space available': 'ENOBUFS',
  'No space left on device': 'ENOSPC',
  'Message too long': 'EMSGSIZE',
  'File name too long': 'ENAMETOOLONG',
  'Too many levels of symbolic links': 'ELOOP',
};

const PLACED = /^\/dev\/stdin:(\d+):\d+-\d+: Error: (.*)$/;

/** Reads nft's messages: one failure for each `/dev/stdin:LINE:COLUMNS: Error: …`, at the operation on that line. */
export function readFailures(messages: string, script: NftScript): NftFailure[] {
  const failures: NftFailure[] = [];
  for (const text of messages.split('\n')) {
    const placed = PLACED.exec(text);
    if (placed) failures.push({ ...script.locate(Number(placed[1])), reason: errorName(placed[2]!) });
  }
  if (failures.length > 0) return failures;
  return [{ reason: errorName(messages.trim().split('\n')[0] || 'nft gave no reason') }];
}

/** The kernel's name for the error, or nft's text if it is nft's own error. */
function errorName(message: string): string {
  const words = message.replace(/^.*Error: /, '').replace(/^Could not process rule: /, '');
  return ERROR_NAMES[words] ?? words;
}
