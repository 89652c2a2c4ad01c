import { Option } from 'commander';
import type { RowFilter } from '../../../application/status/service-row.js';
import { UsageError } from '../usage-error.js';
import { namespaceOption, outputOption, subcommand, type OutputOptions } from './subcommand.js';

const NAME = /^(?:[a-z0-9-]+\/)?[a-z0-9.-]+$/;

/** Which Services to list. */
export const services = subcommand({
  name: 'services',
  description: 'List the Services that the proxy running on this node serves, or those of these names.',
  usage: '[NAME...] [flags]',
  options: [
    namespaceOption,
    new Option('--failing', 'Only Services of which a port failed to be programmed.').default(false),
    new Option('--without-endpoints', 'Only Services without an endpoint that can be used.').default(false),
    outputOption,
  ],
  request(names, { namespace, failing, withoutEndpoints, output }: Omit<RowFilter, 'names'> & OutputOptions) {
    const wrong = names.find((name) => !NAME.test(name));
    if (wrong !== undefined)
      throw new UsageError(`services takes names as NAME or NAMESPACE/NAME, got ${JSON.stringify(wrong)}`);
    return { namespace, names, failing, withoutEndpoints, output };
  },
});
