import { fleetEvents } from './events.js';
import type { FleetSize } from './fleet.js';
import { herdTable } from './herd/report.js';
import { fleetTable } from './report.js';

/**
 * What a fleet of nodes costs an API server: measured with a stand-in, and simulated for clusters of 500 to 15,000 nodes.
 *
 * @param server path of `server.ts`, built
 */
export async function fleetReport(server: string, size: FleetSize): Promise<string> {
  const measured = fleetTable(size, await fleetEvents(server, size));
  return `${measured}\n\nSimulated, each of three API servers:\n\n${herdTable()}`;
}
