import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { outputOptions, subcommand, type OutputOptions } from '../command-line/options.js';

/** Which files and folders to check. */
export const validate = subcommand({
  name: 'validate',
  group: 'Without a proxy:',
  description:
    'Report what in these manifests is invalid, by file, line and field, and what does not fit together, without changing anything.',
  usage: 'PATH|-... [flags]',
  options: outputOptions,
  request(paths, { output }: OutputOptions) {
    if (paths.length === 0)
      throw new UsageError(
        'validate takes the files and folders to check, or - for standard input, got none',
      );
    if (paths.includes(''))
      throw new UsageError('validate got an empty path; give existing files or folders');
    return { paths, output, manifests: paths.filter((path) => path !== '-') };
  },
});
