import type { ServiceRow, UnknownName } from '../../../application/status/service-row.js';
import { nameText, type ServiceName } from '../command-line/service-names.js';
import { listServices, ofNames } from './list-services.js';
import type { RunningProxy } from './running-proxy.js';

/** Of these names those of ports that no Service of the name has. Nothing is asked where none names a port. */
export async function unknownPorts(
  proxy: RunningProxy,
  names: readonly ServiceName[],
  namespace?: string,
): Promise<readonly UnknownName[]> {
  const services = names.flatMap(({ service, port }) => (port === undefined ? [] : service));
  if (services.length === 0) return [];
  const { services: rows } = await listServices(proxy, ofNames(services, namespace));
  return missingPorts(names, rows);
}

/** The same, where the list has all Services of these names. */
export function missingPorts(
  names: readonly ServiceName[],
  rows: readonly ServiceRow[],
): readonly UnknownName[] {
  const ofPorts = names.filter(({ port }) => port !== undefined);
  return ofPorts.flatMap((name) =>
    missingPort(
      name,
      rows.filter((row) => name.service === row.name || name.service === `${row.namespace}/${row.name}`),
    ),
  );
}

/** @param rows those of the Service; of one that is not served no ports are known */
function missingPort(
  { service, port = '' }: ServiceName,
  rows: readonly ServiceRow[],
): readonly UnknownName[] {
  const ports = rows.flatMap((row) => row.ports ?? []);
  const isKnown = rows.every(({ state }) => state !== 'not-served');
  if (rows.length === 0 || !isKnown || ports.includes(port)) return [];
  const known = ports.length > 0 ? `it has: ${[...new Set(ports)].join(', ')}` : 'its only port has no name';
  return [{ name: nameText({ service, port }), reason: `it has no port named ${port} (${known})` }];
}
