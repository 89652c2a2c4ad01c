import { refuseOperands } from '../../../../adapters/cli/usage-error.js';
import {
  outputOptions,
  subcommand,
  watchOption,
  type OutputOptions,
  type WatchOptions,
} from '../command-line/options.js';

/** How the proxy is. */
export const status = subcommand({
  name: 'status',
  description:
    'Show how the proxy running on this node is. Ends with 0 when it is good, 1 when degraded, 2 when not serving, 3 when nobody answers.',
  usage: '[flags]',
  options: [watchOption, ...outputOptions],
  request(operands, { output, watch }: OutputOptions & WatchOptions) {
    refuseOperands(operands, 'kubeproxy status');
    return { output, watch };
  },
});
