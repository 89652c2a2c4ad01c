import type { History } from '../../../application/status/change-entry.js';
import { CHANGE_ENTRY_HEADERS, changeEntryCells } from '../../../application/status/change-entry-text.js';
import type { Asked } from '../../configuration/command-line.js';
import { columns } from '../output/columns.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { RunningProxy } from './running-proxy.js';

/** Asks the proxy running on this node what it changed, and prints a line for each change, the oldest first. */
export async function history({ request, configuration }: Asked<'history'>): Promise<number> {
  const { service, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const parameters = new URLSearchParams(service === undefined ? {} : { service });
  const answer = await proxy.ask<History>(`/debug/history?${parameters.toString()}`);
  await print(
    formatted(output, answer, ({ changes }, isWide) =>
      changes.length === 0
        ? 'no change is remembered\n'
        : columns(
            CHANGE_ENTRY_HEADERS,
            changes.map((entry) => changeEntryCells(entry, isWide)),
          ),
    ),
  );
  return 0;
}
