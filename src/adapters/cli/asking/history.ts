import { serviceOf } from '../../../domain/model/service-port-name.js';
import { historyAnswer, type ChangeEntry } from '../../../application/status/change-entry.js';
import { historyLines } from '../texts/history.js';
import type { Asked } from '../command-line/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { RunningProxy } from './running-proxy.js';
import { findServices, type FoundServices } from './find-services.js';
import { complainOf } from './unknown-service.js';

/**
 * Asks the proxy running on this node what it changed, and prints a line for each change, the oldest first. 1 when there is no such
 * Service, and no change of one is remembered.
 */
export async function history({ request, configuration }: Asked<'history'>): Promise<number> {
  const { services, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const found = await findServices(proxy, services);
  const { changes, total } = await proxy.ask(`/debug/history?${found.parameters.toString()}`, historyAnswer);
  const known = {
    changes: services.length === 0 ? changes : changes.filter((change) => isMeant(change, found)),
    total,
  };
  const answer = await found.withUnknown(proxy, known, known.changes.length === 0);
  await print(formatted(output, answer, ({ changes }, isWide) => historyLines(changes, isWide)));
  return complainOf(answer.unknown) ? 1 : 0;
}

function isMeant(change: ChangeEntry, found: FoundServices): boolean {
  if (change.what !== 'service-port') return false;
  const [, , , port = ''] = change.servicePort.split('/');
  return found.hasPort(serviceOf(change.servicePort), port);
}
