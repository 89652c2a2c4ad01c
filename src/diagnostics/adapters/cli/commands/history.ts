/** The command `history`: the changes that the proxy on this node programmed. */

import { ExitCode } from '../../../../adapters/cli/exit-code.js';
import type { Invocation, RequestOf } from '../options.js';
import { Option } from 'commander';
import {
  durationBetween,
  listOutputOptions,
  namespaceOptions,
  positiveNumber,
  serviceNames,
  subcommand,
  watchOption,
  type NamespaceOptions,
  type OutputOptions,
  type WatchOptions,
} from '../options.js';
import { parseDisplayName } from '../../../../domain/model/service-port-name.js';
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

interface HistoryOptions extends NamespaceOptions, OutputOptions, WatchOptions {
  readonly since?: string;
  readonly limit?: number;
}

/** Which changes to show. */
export const historyCommand = subcommand({
  name: 'history',
  description:
    'Show the last changes that the proxy on this node programmed, at most 1,000, the oldest first.',
  summary: 'Show the last programmed changes.',
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option('--since <duration>', 'Only changes of this last time, such as 10m.').argParser(
      durationBetween('1s', '8760h'),
    ),
    new Option('--limit <number>', 'Only the newest changes.').argParser(positiveNumber),
    watchOption,
    ...listOutputOptions,
  ],
  request(operands, { namespace, since, limit, output, watch }: HistoryOptions) {
    const services = serviceNames('history', operands, namespace);
    return { services, namespace, since, limit, output, watch };
  },
});

/**
 * Prints a line for each change of the proxy running on this node, the oldest first; with `-w` each change once. 1 when there is no
 * such Service or namespace, and no change of one is remembered.
 */
export async function history({
  request,
  configuration,
}: Invocation<typeof historyCommand>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const { services, namespace, watch } = request;
  const found = await findServices(proxy, services, services.length > 0 ? undefined : namespace);
  let known = 0;
  const query = async () => {
    // Further queries of a watch compare totals, which are those of all Services.
    const parameters = known === 0 ? parametersOf(request, found) : '';
    const { changes: all, total } = await proxy.query(`/debug/history?${parameters}`, historyAnswer);
    // Fewer than before: another proxy.
    const added = total < known ? total : total - known;
    const recent = known === 0 ? all : added > 0 ? all.slice(-added) : [];
    if (watch) known = total;
    const changes = recent.filter((change) => isMeant(change, found, namespace));
    const unknownNames = found.unknownBut(changes.flatMap(portOf));
    const isUnknown = unknownNames.length > 0 && (!found.isAll || changes.length === 0);
    return { changes, total, ...(isUnknown && { unknownNames }) };
  };
  return show<History & AboutUnknown, ChangeEntry>(
    request,
    request.watch ? whenChanged(proxy, query) : query,
    {
      lines: ({ changes }, isWide) => historyLines(changes, isWide),
      names: ({ changes }) => changedServices(changes),
      exitCode: () => ExitCode.ok,
      watched: ({ changes }) => ({
        items: changes,
        key: (change) => JSON.stringify(change),
        text: (all, isWide) => tableText(historyLines(all, isWide)),
        name: (change) => changedServices([change]).join(),
      }),
    },
  );
}

function parametersOf(
  { namespace, since, limit }: RequestOf<typeof historyCommand>,
  found: FoundServices,
): string {
  const { parameters } = found;
  if (namespace !== undefined) parameters.set('namespace', namespace);
  if (since !== undefined) parameters.set('since', since);
  if (limit !== undefined) parameters.set('limit', String(limit));
  return parameters.toString();
}

function isMeant(change: ChangeEntry, found: FoundServices, namespace: string | undefined): boolean {
  if (found.isAll && namespace === undefined) return true;
  return portOf(change).some(
    ({ service, port }) =>
      found.hasPort(service, port) && (!found.isAll || service.startsWith(`${namespace}/`)),
  );
}

/** None of a change of many. */
function portOf(change: ChangeEntry): readonly ServiceAndPort[] {
  if (change.kind !== 'service-port') return [];
  return [parseDisplayName(change.servicePort)];
}

const HEADERS = ['TIME', 'SERVICE PORT', 'FAMILY', 'RESULT', 'DURATION', 'STEPS', 'CHANGES'];

/**
 * A line for each change: when, which service port, what came of it, how long it took, and what changed.
 * @param isWide with the time of the event, and that of its cause
 */
export function historyLines(
  changes: readonly (ChangeEntry & { readonly node?: string })[],
  isWide: boolean,
): readonly string[] {
  if (changes.length === 0) return ['no changes'];
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
    change.kind === 'service-port' ? parseDisplayName(change.servicePort).service : [],
  );
  return [...new Set(keys)].map((key) => objectName('service', key.split('/')[1]!));
}
