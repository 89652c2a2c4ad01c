import { optionalService } from './operands.js';
import { outputOption, subcommand, type OutputOptions } from './subcommand.js';

/** Whose changes to show: all, if no Service is given. */
export const history = subcommand({
  name: 'history',
  description:
    'Show the last thousand changes that the proxy running on this node programmed, or those of one Service, the oldest first.',
  usage: '[NAMESPACE/NAME] [flags]',
  options: [outputOption],
  request: (operands, { output }: OutputOptions) => ({
    service: optionalService('history', operands),
    output,
  }),
});
