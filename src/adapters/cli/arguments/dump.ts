import { Option } from 'commander';
import { UsageError } from '../usage-error.js';
import { refuseOperands } from './operands.js';
import type { Subcommand } from './subcommand.js';

/** Where to write a support bundle. */
export interface DumpRequest {
  readonly name: 'dump';
  /** A folder; undefined: standard output. */
  readonly to?: string;
}

export const dump: Subcommand<DumpRequest> = {
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
  request(operands, options) {
    refuseOperands(operands, 'kubeproxy dump');
    const { to } = options as { readonly to?: string };
    if (to === '') throw new UsageError('dump got an empty path; name a new folder with --to');
    return { name: 'dump', ...(to !== undefined && { to }) };
  },
};
