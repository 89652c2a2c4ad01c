import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import { optionalService } from './operands.js';
import { outputOf, outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

/** Of what to show the differences. */
export interface DiffRequest {
  readonly name: 'diff';
  /** All, if none is given. */
  readonly service?: ServiceKey;
  readonly output: OutputFormat;
}

export const diff: Subcommand<DiffRequest> = {
  name: 'diff',
  description:
    'Show what the kernel has otherwise than the proxy running on this node wants it: - is there and should not be, + should be there.',
  usage: '[NAMESPACE/NAME] [flags]',
  options: [outputOption()],
  request(operands, options) {
    const service = optionalService('diff', operands);
    return { name: 'diff', ...(service !== undefined && { service }), output: outputOf(options) };
  },
};
