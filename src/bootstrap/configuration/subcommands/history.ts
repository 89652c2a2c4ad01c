import { UsageError } from '../errors.js';
import { outputOf, outputOption, type Subcommand } from './subcommand.js';

const SERVICE = /^[a-z0-9-]+\/[a-z0-9.-]+$/;

export const history: Subcommand = {
  name: 'history',
  description:
    'Show the last thousand changes that the proxy running on this node programmed, or those of one Service, the oldest first.',
  usage: '[NAMESPACE/NAME] [flags]',
  options: [outputOption()],
  request(operands, options) {
    const [service] = operands;
    if (operands.length > 1 || (service !== undefined && !SERVICE.test(service)))
      throw new UsageError(
        `history takes at most one Service as NAMESPACE/NAME, got [${operands.join(' ')}]`,
      );
    return { name: 'history', ...(service !== undefined && { service }), output: outputOf(options) };
  },
};
