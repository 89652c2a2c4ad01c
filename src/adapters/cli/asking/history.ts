import { historyAnswer } from '../../../application/status/change-entry.js';
import { historyLines } from '../texts/history.js';
import type { Asked } from '../arguments/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { RunningProxy } from './running-proxy.js';
import { complainOf, withUnknown } from './unknown-service.js';

/**
 * Asks the proxy running on this node what it changed, and prints a line for each change, the oldest first. 1 when there is no such
 * Service, and no change of one is remembered.
 */
export async function history({ request, configuration }: Asked<'history'>): Promise<number> {
  const { service, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const parameters = new URLSearchParams(service === undefined ? {} : { service });
  const known = await proxy.ask(`/debug/history?${parameters.toString()}`, historyAnswer);
  const answer = await withUnknown(proxy, service, known, known.changes.length === 0);
  await print(formatted(output, answer, ({ changes }, isWide) => historyLines(changes, isWide)));
  return complainOf(answer.unknown) ? 1 : 0;
}
