import { Option } from 'commander';
import {
  TRAFFIC_ORDERS,
  type TrafficOrder,
  type TrafficQuery,
} from '../../../domain/traffic/traffic-report.js';
import { UsageError } from '../usage-error.js';
import { parseDuration } from '../../../application/words/duration.js';
import { outputOption, type OutputFormat, type Subcommand } from './subcommand.js';

const SHORTEST = 100;
const LONGEST = 60_000;

interface TopOptions {
  readonly namespace?: string;
  readonly sort: TrafficOrder;
  readonly interval: string;
  readonly output: OutputFormat;
}

/** Which traffic to show, and how. */
export interface TopRequest {
  readonly name: 'top';
  readonly query: Omit<TrafficQuery, 'limit'>;
  readonly intervalMilliseconds: number;
  readonly output: OutputFormat;
}

export const top: Subcommand<TopRequest> = {
  name: 'top',
  description:
    'Show the connections of Services and endpoints on this node, live. Takes names as NAME or NAMESPACE/NAME, and --once.',
  usage: '[NAME...] [flags]',
  options: [
    new Option('-n, --namespace <namespace>', 'Only Services of this namespace.'),
    new Option('--sort <order>', 'What comes first.').choices(TRAFFIC_ORDERS).default('open'),
    new Option(
      '--interval <duration>',
      'How often to show it: seconds, or a duration from 100ms to 1m.',
    ).default('1s'),
    outputOption(),
  ],
  request(services, options) {
    const { namespace, sort, interval, output } = options as unknown as TopOptions;
    const milliseconds = parseDuration(/^\d+(\.\d+)?$/.test(interval) ? `${interval}s` : interval);
    if (milliseconds === undefined || milliseconds < SHORTEST || milliseconds > LONGEST)
      throw new UsageError(`--interval is from 100ms to 1m, got ${JSON.stringify(interval)}`);
    return {
      name: 'top',
      query: { ...(namespace !== undefined && { namespace }), services, sort },
      intervalMilliseconds: milliseconds,
      output,
    };
  },
};
