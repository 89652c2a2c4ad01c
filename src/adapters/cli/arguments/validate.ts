import { UsageError } from '../usage-error.js';
import { subcommand } from './subcommand.js';

/** Which files and folders to check. */
export const validate = subcommand({
  name: 'validate',
  group: 'Without a proxy:',
  description:
    'Report what in these manifests is invalid, by file, line and field, without changing anything.',
  usage: 'PATH... [flags]',
  request(paths) {
    if (paths.length === 0) throw new UsageError('validate takes the files and folders to check, got none');
    if (paths.includes(''))
      throw new UsageError('validate got an empty path; give existing files or folders');
    return { paths };
  },
});
