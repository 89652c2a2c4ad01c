import { Option } from 'commander';
import { UsageError, refuseOperands } from '../../../../adapters/cli/usage-error.js';
import { subcommand } from '../command-line/options.js';

/** Where to write a support bundle: a folder, or standard output. */
export const dump = subcommand({
  name: 'dump',
  description:
    'Collect what the proxy running on this node says about itself, for those who are to help: status, Services, differences, history, configuration and metrics.',
  usage: '[--to FOLDER] [flags]',
  options: [
    new Option(
      '--to <folder>',
      'Write a file for each part into this new folder, instead of JSON to standard output.',
    ),
  ],
  request(operands, { to }: { readonly to?: string }) {
    refuseOperands(operands, 'kubeproxy dump');
    if (to === '') throw new UsageError('dump got an empty path; name a new folder with --to');
    return { to };
  },
});
