/** The command `history`: the changes that the proxy on this node programmed. */

import type { Invocation } from '../options.js';
import { aboutServices, listOutputOptions, watchOption } from '../options.js';
import { serviceOf } from '../../../../domain/model/service-port-name.js';
import {
  historyAnswer,
  type ChangeEntry,
  type History,
} from '../../../../application/status/change-entry.js';
import { inToneOf, columns, objectName } from '../output.js';
import type { AboutUnknown } from '../../../application/status/service-row.js';
import { RunningProxy } from '../running-proxy.js';
import { findServices, type FoundServices, type ServiceAndPort } from '../find-services.js';
import { whenChanged, tableText, show } from '../watch.js';
import { changeWords } from '../../../application/words.js';
import { resultWords } from '../../../application/words.js';

/** Whose changes to show. */
export const historyCommand = aboutServices(
  'history',
  'Show the last thousand changes that the proxy running on this node programmed, or those of these Services, the oldest first.',
  [watchOption, ...listOutputOptions],
);

/**
 * Prints a line for each change of the proxy running on this node, the oldest first; with `-w` each change once. 1 when there is no
 * such Service, and no change of one is remembered.
 */
export async function history({
  request,
  configuration,
}: Invocation<typeof historyCommand>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const found = await findServices(proxy, request.services);
  let known = 0;
  // A watch compares totals, which are those of all Services.
  const parameters = request.watch ? '' : `?${found.parameters.toString()}`;
  const query = async () => {
    const { changes: all, total } = await proxy.query(`/debug/history${parameters}`, historyAnswer);
    // Fewer than before: another proxy.
    const added = total < known ? total : total - known;
    if (request.watch) known = total;
    const recent = !request.watch ? all : added > 0 ? all.slice(-added) : [];
    const changes = recent.filter((change) => isMeant(change, found));
    return {
      changes,
      total,
      ...(!found.isAll && { unknownNames: found.unknownBut(changes.flatMap(portOf)) }),
    };
  };
  return show<History & AboutUnknown, ChangeEntry>(
    request,
    request.watch ? whenChanged(proxy, query) : query,
    {
      lines: ({ changes }, isWide) => historyLines(changes, isWide),
      names: ({ changes }) => changedServices(changes),
      exitCode: () => 0,
      watched: ({ changes }) => ({
        items: changes,
        key: (change) => JSON.stringify(change),
        text: (all, isWide) => tableText(historyLines(all, isWide)),
        name: (change) => changedServices([change]).join(),
      }),
    },
  );
}

function isMeant(change: ChangeEntry, found: FoundServices): boolean {
  return found.isAll || portOf(change).some(({ service, port }) => found.hasPort(service, port));
}

/** None of a change of many. */
function portOf(change: ChangeEntry): readonly ServiceAndPort[] {
  if (change.kind !== 'service-port') return [];
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
  const { kind, time, family, writtenSteps, durationSeconds } = entry;
  return [
    time,
    kind === 'service-port' ? entry.servicePort : '-',
    family,
    inToneOf(kind === 'service-port' ? entry.result : kind, resultWords(entry)),
    durationSeconds === undefined ? '-' : `${Math.round(durationSeconds * 1_000)} ms`,
    String(writtenSteps),
    `${changeWords(entry)}${isWide && kind === 'service-port' ? timesText(entry) : ''}`,
  ];
}

function timesText({ eventTime, triggerTime }: ChangeEntry & { readonly kind: 'service-port' }): string {
  return `; event ${eventTime}${triggerTime === undefined ? '' : `, caused ${triggerTime}`}`;
}

/** The Services that changed, each once, as kubectl writes them. */
export function changedServices(changes: readonly ChangeEntry[]): readonly string[] {
  const keys = changes.flatMap((change) =>
    change.kind === 'service-port' ? serviceOf(change.servicePort) : [],
  );
  return [...new Set(keys)].map((key) => objectName('service', key.split('/')[1]!));
}
