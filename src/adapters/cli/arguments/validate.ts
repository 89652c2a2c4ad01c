import { Option } from 'commander';
import { UsageError } from '../usage-error.js';
import { colorOption, OUTPUT_FORMATS, subcommand, type OutputFormat } from '../command-line/subcommand.js';

export interface ValidateOptions {
  readonly output?: OutputFormat | 'sarif';
}

/** Which files and folders to check. */
export const validate = subcommand({
  name: 'validate',
  group: 'Without a proxy:',
  description:
    'Report what in these manifests is invalid, by file, line and field, and what does not fit together, without changing anything.',
  usage: 'PATH|-... [flags]',
  options: [
    new Option('-o, --output <format>', 'How to print it; sarif for code review.')
      .choices([...OUTPUT_FORMATS, 'sarif'])
      .default('text'),
    colorOption,
  ],
  request(paths, { output = 'text' }: ValidateOptions) {
    if (paths.length === 0)
      throw new UsageError(
        'validate takes the files and folders to check, or - for standard input, got none',
      );
    if (paths.includes(''))
      throw new UsageError('validate got an empty path; give existing files or folders');
    return { paths, output };
  },
});
