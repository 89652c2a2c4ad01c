import { UsageError } from '../errors.js';
import { outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

export const diff: Subcommand = {
  name: 'diff',
  description:
    'Show what the kernel has otherwise than the proxy running on this node wants it: - is there and should not be, + should be there.',
  usage: '[NAMESPACE/NAME] [flags]',
  options: [outputOption()],
  request(operands, { output }) {
    const [service] = operands;
    if (operands.length > 1 || (service !== undefined && !/^[a-z0-9-]+\/[a-z0-9.-]+$/.test(service)))
      throw new UsageError(`diff takes at most one Service as NAMESPACE/NAME, got [${operands.join(' ')}]`);
    return { name: 'diff', output: output as OutputFormat, ...(service !== undefined && { service }) };
  },
};
