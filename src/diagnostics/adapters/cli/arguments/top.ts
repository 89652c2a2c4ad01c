import { Option } from 'commander';
import { parseDuration } from '../../../../application/words/duration.js';
import { TRAFFIC_ORDERS, type TrafficOrder } from '../../../domain/traffic.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import { namespaceOptions, serviceNames } from '../command-line/service-names.js';
import { outputOptions, subcommand, type OutputOptions } from '../command-line/options.js';

const SHORTEST = 100;
const LONGEST = 60_000;

interface TopOptions extends OutputOptions {
  readonly namespace?: string;
  readonly sort: TrafficOrder;
  readonly interval: string;
}

/** Which traffic to show, and how. */
export const top = subcommand({
  name: 'top',
  description:
    'Show the connections of Services and endpoints on this node, live, or with --once one interval.',
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option('--sort <order>', 'What comes first.').choices(TRAFFIC_ORDERS).default('open'),
    new Option(
      '--interval <duration>',
      'How often to show it: seconds, or a duration from 100ms to 1m.',
    ).default('1s'),
    ...outputOptions,
  ],
  request(operands, { namespace, sort, interval, output }: TopOptions) {
    const milliseconds = parseDuration(/^\d+(\.\d+)?$/.test(interval) ? `${interval}s` : interval);
    if (milliseconds === undefined || milliseconds < SHORTEST || milliseconds > LONGEST)
      throw new UsageError(`--interval is from 100ms to 1m, got ${JSON.stringify(interval)}`);
    return {
      query: { namespace, services: serviceNames('top', operands), sort },
      intervalMilliseconds: milliseconds,
      output,
    };
  },
});
