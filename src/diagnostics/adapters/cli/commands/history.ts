/** The command `history`: the changes that the proxy on this node programmed. */

import type { Asked } from '../options.js';
import { aboutServices, listOutputOptions, watchOption, type OutputFormat } from '../options.js';
import { serviceOf } from '../../../../domain/model/service-port-name.js';
import { historyAnswer, type ChangeEntry } from '../../../../application/status/change-entry.js';
import { formatted, print, inToneOf, columns, objectName } from '../output.js';
import { RunningProxy } from '../running-proxy.js';
import { findServices, type FoundServices, type ServiceAndPort, reportUnknown } from '../find-services.js';
import { whenChanged, tableText, watch, untilUserEnds } from '../watch.js';
import { changeWords } from '../../../application/words.js';
import { resultWords } from '../../../application/words.js';

/** Whose changes to show. */
export const historyCommand = aboutServices(
  'history',
  'Show the last thousand changes that the proxy running on this node programmed, or those of these Services, the oldest first.',
  [watchOption, ...listOutputOptions],
);

/**
 * Asks the proxy running on this node what it changed, and prints a line for each change, the oldest first. 1 when there is no such
 * Service, and no change of one is remembered.
 */
export async function history({ request, configuration }: Asked<typeof historyCommand>): Promise<number> {
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
  return reportUnknown(answer.unknown) ? 1 : 0;
}

/** Prints each change once, and unknown names at the beginning: 1 if there are any. */
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
    isIncomplete ??= reportUnknown((await found.withUnknown(proxy, {}, items.flatMap(portOf))).unknown);
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

const HEADERS = ['TIME', 'SERVICE PORT', 'FAMILY', 'RESULT', 'TOOK', 'STEPS', 'CHANGES'];

/**
 * A line for each change: when, which service port, what came of it, how long it took, and what changed.
 * @param isWide with the time of the event, and that of its cause
 */
export function historyLines(
  changes: readonly (ChangeEntry & { readonly node?: string })[],
  isWide: boolean,
): readonly string[] {
  if (changes.length === 0) return ['no change is remembered'];
  const ofNode = (text: string): readonly string[] => (changes[0]!.node === undefined ? [] : [text]);
  return columns(
    [...ofNode('NODE'), ...HEADERS],
    changes.map((change) => [...ofNode(change.node ?? ''), ...cellsOf(change, isWide)]),
  );
}

function cellsOf(entry: ChangeEntry, isWide: boolean): readonly string[] {
  const { what, at, family, steps, took } = entry;
  return [
    at,
    what === 'service-port' ? entry.servicePort : '-',
    family,
    inToneOf(what === 'service-port' ? entry.result : what, resultWords(entry)),
    took === undefined ? '-' : `${took} ms`,
    String(steps),
    `${changeWords(entry)}${isWide && what === 'service-port' ? timesText(entry) : ''}`,
  ];
}

function timesText({ event, trigger }: ChangeEntry & { readonly what: 'service-port' }): string {
  return `; event ${event}${trigger === undefined ? '' : `, caused ${trigger}`}`;
}

/** The Services that changed, each once, as kubectl writes them. */
export function changedServices(changes: readonly ChangeEntry[]): readonly string[] {
  const keys = changes.flatMap((change) =>
    change.what === 'service-port' ? serviceOf(change.servicePort) : [],
  );
  return [...new Set(keys)].map((key) => objectName('service', key.split('/')[1]!));
}
