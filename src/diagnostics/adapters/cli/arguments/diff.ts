import { Option } from 'commander';
import { namespaceOptions } from '../command-line/service-names.js';
import {
  outputOptions,
  servicesIn,
  subcommand,
  watchOption,
  type OutputOptions,
  type WatchOptions,
} from '../command-line/options.js';

/** Of what to show the differences, and whether from the rules of a running proxy or from those of a plan. */
export const diff = subcommand({
  name: 'diff',
  description:
    "Compare the kernel's rules with the desired rules: - unexpected, + missing. Queries the proxy running on this node; with --plan or --manifests, works without one.",
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option(
      '--plan',
      'Compare with the rules that a start with these flags would write: - would go, + would come. Needs root. Implied by --manifests; rules of Services that are not in them stay.',
    ),
    watchOption,
    ...outputOptions,
  ],
  request(
    operands,
    { plan = false, ...options }: { readonly plan?: boolean } & OutputOptions & WatchOptions,
  ) {
    return { isPlanned: plan, ...servicesIn('diff', operands, options) };
  },
});
