import {
  IptablesTemporaryError,
  RestoreRefusedError,
  XtablesLockedError,
} from '../../../src/adapters/iptables/iptables-commands.js';
import { ToolFailedError } from '../../../src/adapters/tool-programs.js';
import { restoreFailure } from '../../../src/adapters/iptables/restore-failures.js';

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
    expect(failureOf(exitCode, messages)).toBeInstanceOf(RestoreRefusedError);
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
