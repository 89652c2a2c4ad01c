import {
  IptablesTemporaryError,
  RestoreRejectedError,
  XtablesLockedError,
} from '../../../src/adapters/iptables/iptables-commands.js';
import { ToolFailedError } from '../../../src/adapters/tool-programs.js';
import { restoreFailure, readRestoreFailures } from '../../../src/adapters/iptables/restore-failures.js';

const LOCK = { path: '/run/xtables.lock', waitedSeconds: 5 };
const failureOf = (exitCode: number, messages: string) =>
  restoreFailure('iptables-restore', exitCode, messages, LOCK);

describe('a restore that fails', () => {
  it.each([
    [1, 'iptables-restore: line 5 failed\n'],
    [
      4,
      'iptables-nft-restore v1.8.9 (nf_tables): \nline 4: RULE_APPEND failed (Invalid argument): rule in chain A\n',
    ],
    [
      4,
      'iptables-nft-restore v1.8.9 (nf_tables): line 4: RULE_INSERT failed (No such file or directory): rule in chain A\n',
    ],
    [
      2,
      "iptables-restore v1.8.9 (legacy): Couldn't load match `x':No such file\n\nError occurred at line: 3\n",
    ],
  ])('was refused when the tool says so by its status and names a line (%i)', (exitCode, messages) => {
    expect(failureOf(exitCode, messages)).toBeInstanceOf(RestoreRejectedError);
  });

  it.each([
    [4, 'line 4: RULE_APPEND failed (Cannot allocate memory): rule in chain A'],
    [4, 'line 9: CHAIN_DEL failed (Device or resource busy): chain A2'],
    [4, 'line 4: RULE_APPEND failed (No buffer space available): rule in chain A'],
    [4, 'iptables-restore: line 5 failed'],
    [4, ''],
  ])('was not refused when the kernel could not take it at that moment (%i, %s)', (exitCode, messages) => {
    expect(failureOf(exitCode, messages)).toBeInstanceOf(IptablesTemporaryError);
  });

  it.each([
    [137, 'iptables-restore: line 5 failed'],
    [139, ''],
    [1, ''],
    [1, 'iptables-restore v1.8.9 (legacy): something about no line'],
    [3, 'iptables-restore v1.8.9 (legacy): version problem'],
  ])('was not refused when the tool was killed, or names no line (%i, %s)', (exitCode, messages) => {
    expect(failureOf(exitCode, messages)).toBeInstanceOf(ToolFailedError);
  });

  it('waited for the lock in vain, whatever else the tool says', () => {
    const said = 'Another app is currently holding the xtables lock; line 5 failed';
    expect(failureOf(4, said)).toBeInstanceOf(XtablesLockedError);
  });
});

describe('readRestoreFailures', () => {
  it.each([
    [
      'the kernel’s refusals, by iptables-nft',
      `iptables-nft-restore v1.8.9 (nf_tables): \nline 4: RULE_APPEND failed (Invalid argument): rule in chain A1\nline 9: CHAIN_DEL failed (Device or resource busy): chain A2\n`,
      [
        { line: 4, reason: 'RULE_APPEND of rule in chain A1: Invalid argument' },
        { line: 9, reason: 'CHAIN_DEL of chain A2: Device or resource busy' },
      ],
    ],
    [
      'the kernel’s refusal after the program’s name',
      'iptables-nft-restore v1.8.10 (nf_tables): line 4: RULE_APPEND failed (Invalid argument): rule in chain A1\n',
      [{ line: 4, reason: 'RULE_APPEND of rule in chain A1: Invalid argument' }],
    ],
    [
      'the failing line, by iptables-legacy',
      'iptables-restore: line 5 failed\n',
      [{ line: 5, reason: 'the kernel rejected it' }],
    ],
    [
      'the failing line and why',
      'ip6tables-nft-restore: line 2 failed: No chain/target/match by that name.\n',
      [{ line: 2, reason: 'No chain/target/match by that name.' }],
    ],
    [
      'a match that is missing',
      "iptables-restore v1.8.9 (legacy): Couldn't load match `nosuch':No such file or directory\n\nError occurred at line: 3\nTry `iptables-restore -h' or 'iptables-restore --help' for more information.\n",
      [{ line: 3, reason: "Couldn't load match `nosuch':No such file or directory", missing: 'nosuch' }],
    ],
    [
      'a value that cannot be read',
      "iptables-nft-restore v1.8.9 (nf_tables): host/network `10.0.0.999' not found\nError occurred at line: 3\nTry `iptables-nft-restore -h' or 'iptables-nft-restore --help' for more information.\n",
      [{ line: 3, reason: "host/network `10.0.0.999' not found" }],
    ],
    ['silence', '', [{ reason: 'the tool gave no reason' }]],
    ['anything else', 'iptables-restore v1.8.9 (legacy): out of memory\n', [{ reason: 'out of memory' }]],
  ])('reads %s', (_, messages, failures) => {
    expect(readRestoreFailures(messages)).toEqual(failures);
  });
});
