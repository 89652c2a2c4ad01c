import { refuseOperands } from './operands.js';
import { outputOf, outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

/** How the proxy is. */
export interface StatusRequest {
  readonly name: 'status';
  readonly output: OutputFormat;
}

export const status: Subcommand<StatusRequest> = {
  name: 'status',
  description:
    'Show how the proxy running on this node is. Ends with 0 when it is good, 1 when degraded, 2 when not serving, 3 when nobody answers.',
  usage: '[flags]',
  options: [outputOption()],
  request(operands, options) {
    refuseOperands(operands, 'kubeproxy status');
    return { name: 'status', output: outputOf(options) };
  },
};
