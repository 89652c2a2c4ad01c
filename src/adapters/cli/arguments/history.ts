import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import { optionalService } from './operands.js';
import { outputOf, outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

/** Whose changes to show. */
export interface HistoryRequest {
  readonly name: 'history';
  /** All, if none is given. */
  readonly service?: ServiceKey;
  readonly output: OutputFormat;
}

export const history: Subcommand<HistoryRequest> = {
  name: 'history',
  description:
    'Show the last thousand changes that the proxy running on this node programmed, or those of one Service, the oldest first.',
  usage: '[NAMESPACE/NAME] [flags]',
  options: [outputOption()],
  request(operands, options) {
    const service = optionalService('history', operands);
    return { name: 'history', ...(service !== undefined && { service }), output: outputOf(options) };
  },
};
