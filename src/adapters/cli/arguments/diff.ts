import { aboutServices, outputOptions, watchOption } from '../command-line/subcommand.js';

/** Of what to show the differences. */
export const diff = aboutServices(
  'diff',
  'Show what the kernel has otherwise than the proxy running on this node wants it: - is there and should not be, + should be there.',
  [watchOption, ...outputOptions],
);
