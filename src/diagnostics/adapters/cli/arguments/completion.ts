import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { subcommand } from '../command-line/options.js';

/** The shells that are known. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

/** Prints what makes a shell complete command lines of this program. */
export const completion = subcommand({
  name: 'completion',
  group: 'Help:',
  description: 'Print what makes a shell complete command lines, names of Services among them.',
  usage: 'bash|zsh|fish',
  request([shell, ...rest]) {
    if (rest.length > 0 || !SHELLS.includes(shell as Shell))
      throw new UsageError(`completion takes bash, zsh or fish, got [${[shell, ...rest].join(' ').trim()}]`);
    return { shell: shell as Shell };
  },
});

/** Asked by those scripts: what may stand where the last of these words begins. */
export const complete = subcommand({
  name: '__complete',
  isHidden: true,
  description: 'Print what the last of these words may be.',
  usage: '-- WORD...',
  request: (words) => ({ words }),
});
