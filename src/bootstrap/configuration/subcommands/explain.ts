import { UsageError } from '../errors.js';
import type { Subcommand } from './subcommand.js';

export const explain: Subcommand = {
  name: 'explain',
  description: 'Show how the proxy running on this node handles a Service, and why.',
  usage: 'NAMESPACE/NAME [flags]',
  request(operands) {
    const [service = ''] = operands;
    if (operands.length === 1 && /^[a-z0-9-]+\/[a-z0-9.-]+$/.test(service))
      return { name: 'explain', service };
    throw new UsageError(`explain takes one Service as NAMESPACE/NAME, got [${operands.join(' ')}]`);
  },
};
