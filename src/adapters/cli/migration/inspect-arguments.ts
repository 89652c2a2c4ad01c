import { Option } from 'commander';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { refuseOperands } from '../usage-error.js';
import { outputOptions, subcommand, type OutputFormat } from '../command-line/options.js';

export interface InspectOptions {
  readonly plan?: SideMode;
  readonly moved?: boolean;
  readonly output: OutputFormat;
}

/** What a node has, and what another mode would change. */
export const inspect = subcommand({
  name: 'inspect',
  group: 'Without a proxy:',
  description:
    'Tell what of service proxies this node has, whichever wrote it, and with --plan what a change of mode would do to packets. Changes nothing. Needs root. 0: nothing would differ but known differences; 1: something would, or the mode cannot run here; 2: something is not understood.',
  usage: '[--plan MODE] [flags]',
  options: [
    new Option('--plan <mode>', 'The mode to compare with what the kernel does now.').choices(SIDE_MODES),
    new Option(
      '--moved',
      'The mode runs already: only its own rules are compared, not what is left of others.',
    ),
    ...outputOptions,
  ],
  request(operands, { plan, moved = false, output }: InspectOptions) {
    refuseOperands(operands, 'kubeproxy inspect');
    return { plan, moved, output };
  },
});
