import { serviceOf } from '../../../../domain/model/service-port-name.js';
import { historyAnswer, type ChangeEntry } from '../../../../application/status/change-entry.js';
import { changedServices, historyLines } from '../texts/history.js';
import type { OutputFormat } from '../command-line/options.js';
import type { Asked } from '../command-line/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { RunningProxy } from './running-proxy.js';
import { findServices, type FoundServices, type ServiceAndPort } from './find-services.js';
import { whenChanged } from '../watching/sync-sign.js';
import { untilUserEnds } from '../watching/until-user-ends.js';
import { tableText, watch } from '../watching/watch.js';
import { complainOf } from './unknown-service.js';

/**
 * Asks the proxy running on this node what it changed, and prints a line for each change, the oldest first. 1 when there is no such
 * Service, and no change of one is remembered.
 */
export async function history({ request, configuration }: Asked<'history'>): Promise<number> {
  const { services, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const found = await findServices(proxy, services);
  if (request.watch) return watchHistory(proxy, found, output);
  const { changes, total } = await proxy.ask(`/debug/history?${found.parameters.toString()}`, historyAnswer);
  const known = {
    changes: changes.filter((change) => isMeant(change, found)),
    total,
  };
  const answer = await found.withUnknown(proxy, known, known.changes.flatMap(portOf));
  await print(
    formatted(
      output,
      answer,
      ({ changes }, isWide) => historyLines(changes, isWide),
      ({ changes }) => changedServices(changes),
    ),
  );
  return complainOf(answer.unknown) ? 1 : 0;
}

/** Each change is told once, and names of which nothing is known are at the beginning: 1 if there are any. */
async function watchHistory(
  proxy: RunningProxy,
  found: FoundServices,
  output: OutputFormat,
): Promise<number> {
  let known = 0;
  let isIncomplete: boolean | undefined;
  const ask = async () => {
    const { changes, total } = await proxy.ask('/debug/history', historyAnswer);
    // Fewer than before: another proxy.
    const added = total < known ? total : total - known;
    known = total;
    const items = (added > 0 ? changes.slice(-added) : []).filter((change) => isMeant(change, found));
    isIncomplete ??= complainOf((await found.withUnknown(proxy, {}, items.flatMap(portOf))).unknown);
    return {
      items,
      key: (change: ChangeEntry) => JSON.stringify(change),
      text: (all: readonly ChangeEntry[], isWide: boolean) => tableText(historyLines(all, isWide)),
      name: (change: ChangeEntry) => changedServices([change]).join(),
    };
  };
  await untilUserEnds(({ signal }) => watch(whenChanged(proxy, ask), output, signal));
  return isIncomplete ? 1 : 0;
}

function isMeant(change: ChangeEntry, found: FoundServices): boolean {
  return found.isAll || portOf(change).some(({ service, port }) => found.hasPort(service, port));
}

/** None of a change of many. */
function portOf(change: ChangeEntry): readonly ServiceAndPort[] {
  if (change.what !== 'service-port') return [];
  const [, , , port = ''] = change.servicePort.split('/');
  return [{ service: serviceOf(change.servicePort), port }];
}
