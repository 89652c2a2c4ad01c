import { statusAnswer, type ProxyStatus } from '../../../application/status/proxy-status.js';
import { proxyStatusLines } from '../texts/proxy-status.js';
import type { OutputFormat } from '../command-line/options.js';
import type { Asked } from '../command-line/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { untilUserEnds } from '../watching/until-user-ends.js';
import { watch } from '../watching/watch.js';
import { RunningProxy } from './running-proxy.js';

const EXIT_CODES = { good: 0, degraded: 1, 'not-serving': 2 } as const;

/** Asks the proxy running on this node how it is, and prints it. 0 when it is good, 1 when degraded, 2 when not serving. */
export async function status({ request, configuration }: Asked<'status'>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  if (request.watch) return watchStatus(proxy, request.output);
  const answer = await proxy.ask('/debug/status', statusAnswer);
  await print(formatted(request.output, answer, proxyStatusLines));
  return EXIT_CODES[answer.state];
}

/** The exit code is that of the last answer. */
async function watchStatus(proxy: RunningProxy, output: OutputFormat): Promise<number> {
  let last: ProxyStatus | undefined;
  const ask = async () => {
    last = await proxy.ask('/debug/status', statusAnswer);
    return {
      items: [last],
      key: () => '',
      essence,
      text: (all: readonly ProxyStatus[], isWide: boolean) => ({
        head: [],
        rows: all.map((one) => proxyStatusLines(one, isWide)),
      }),
    };
  };
  await untilUserEnds(({ signal }) => watch(ask, output, signal));
  return last ? EXIT_CODES[last.state] : 0;
}

/** All that is not different at any moment anyway. */
function essence({ now: _, lag: __, watches, ...status }: ProxyStatus): unknown {
  return { ...status, watches: watches.map(({ silence: ___, ...one }) => one) };
}
