import { Option } from 'commander';
import type { RowFilter } from '../../../application/status/service-row.js';
import { UsageError } from '../usage-error.js';
import { outputOf, outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

const NAME = /^(?:[a-z0-9-]+\/)?[a-z0-9.-]+$/;

/** Which Services to list. */
export interface ServicesRequest extends RowFilter {
  readonly name: 'services';
  readonly output: OutputFormat;
}

export const services: Subcommand<ServicesRequest> = {
  name: 'services',
  description: 'List the Services that the proxy running on this node serves, or those of these names.',
  usage: '[NAME...] [flags]',
  options: [
    new Option('-n, --namespace <namespace>', 'Only Services of this namespace.'),
    new Option('--failing', 'Only Services of which a port failed to be programmed.').default(false),
    new Option('--without-endpoints', 'Only Services without an endpoint that can be used.').default(false),
    outputOption(),
  ],
  request(names, options) {
    const wrong = names.find((name) => !NAME.test(name));
    if (wrong !== undefined)
      throw new UsageError(`services takes names as NAME or NAMESPACE/NAME, got ${JSON.stringify(wrong)}`);
    const { namespace, failing, withoutEndpoints } = options as {
      readonly namespace?: string;
      readonly failing: boolean;
      readonly withoutEndpoints: boolean;
    };
    return {
      name: 'services',
      ...(namespace !== undefined && { namespace }),
      names,
      failing,
      withoutEndpoints,
      output: outputOf(options),
    };
  },
};
