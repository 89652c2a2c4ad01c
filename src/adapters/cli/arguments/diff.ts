import { optionalService } from './operands.js';
import { outputOption, subcommand, type OutputOptions } from './subcommand.js';

/** Of what to show the differences: of all, if no Service is given. */
export const diff = subcommand({
  name: 'diff',
  description:
    'Show what the kernel has otherwise than the proxy running on this node wants it: - is there and should not be, + should be there.',
  usage: '[NAMESPACE/NAME] [flags]',
  options: [outputOption],
  request: (operands, { output }: OutputOptions) => ({ service: optionalService('diff', operands), output }),
});
