import { Option } from 'commander';
import type { RowFilter } from '../../../application/status/service-row.js';
import { namespaceOptions, serviceNames } from '../command-line/service-names.js';
import {
  listOutputOptions,
  subcommand,
  watchOption,
  type OutputOptions,
  type WatchOptions,
} from '../command-line/options.js';

/** Which Services to list. */
export const services = subcommand({
  name: 'services',
  description: 'List the Services that the proxy running on this node serves, or those of these names.',
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option('--failing', 'Only Services of which a port failed to be programmed, or is degraded.'),
    new Option('--without-endpoints', 'Only Services without an endpoint that can be used.'),
    watchOption,
    ...listOutputOptions,
  ],
  request(
    operands,
    {
      namespace,
      failing = false,
      withoutEndpoints = false,
      output,
      watch,
    }: Partial<Omit<RowFilter, 'names'>> & OutputOptions & WatchOptions,
  ) {
    const named = serviceNames('services', operands);
    return { services: named, filter: { namespace, failing, withoutEndpoints }, output, watch };
  },
});
