import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endpointSlice, node, service, serviceCidr } from './cluster.js';

const SERVICES_PER_FILE = 500;

/** Writes the cluster into a folder: one JSON `List` for every 500 services with their endpoints, one for the rest. */
export async function writeManifests(folder: string, services: number, endpoints: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeList(join(folder, 'cluster.json'), [node(), serviceCidr()]);
  for (let first = 0; first < services; first += SERVICES_PER_FILE) {
    const items: object[] = [];
    for (let index = first; index < Math.min(first + SERVICES_PER_FILE, services); index++) {
      items.push(service(index), endpointSlice(index, endpoints));
    }
    await writeList(join(folder, `services-${String(first).padStart(7, '0')}.json`), items);
  }
}

function writeList(file: string, items: readonly object[]): Promise<void> {
  return writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}
