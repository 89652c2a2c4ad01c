import { statusAnswer } from '../../../application/status/proxy-status.js';
import { proxyStatusLines } from '../texts/proxy-status.js';
import type { Asked } from '../command-line/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { RunningProxy } from './running-proxy.js';

const EXIT_CODES = { good: 0, degraded: 1, 'not-serving': 2 } as const;

/** Asks the proxy running on this node how it is, and prints it. 0 when it is good, 1 when degraded, 2 when not serving. */
export async function status({ request, configuration }: Asked<'status'>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const answer = await proxy.ask('/debug/status', statusAnswer);
  await print(formatted(request.output, answer, proxyStatusLines));
  return EXIT_CODES[answer.state];
}
