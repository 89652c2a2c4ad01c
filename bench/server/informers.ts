import { fileURLToPath } from 'node:url';
import type { BenchHost } from '../host.js';
import { duration, megabytes } from '../report.js';
import { leastOfEach } from '../statistics.js';
import type { InformerFigures } from './informer.js';
import { Server } from './measure.js';

const informer = fileURLToPath(new URL('server/informer.js', import.meta.url));
const WAYS = { 'client-node': "client-node's informers", proxy: 'the proxy' };

/** Following Services and EndpointSlices as the proxy does and with client-node, as a table in Markdown. @param node the command */
export async function informerTable(
  host: BenchHost,
  node: readonly string[],
  services: number,
  endpoints: number,
  runs: number,
): Promise<string> {
  const lines = [
    ['', 'time to first sync', 'processor time', 'peak memory'],
    ['---', '--:', '--:', '--:'],
  ];
  host.create();
  const server = await Server.start(host, services, endpoints);
  try {
    for (const [way, name] of Object.entries(WAYS)) {
      const measured: InformerFigures[] = [];
      for (let run = 0; run < runs; run++) {
        const { output } = await host.run(...node, informer, way, server.kubeconfig);
        const { objects, ...figures } = JSON.parse(output) as InformerFigures & { objects: number };
        if (objects < 2 * services) throw new Error(`${name} received ${objects} objects`);
        measured.push(figures);
      }
      const { synced, processor, peak } = leastOfEach(measured);
      lines.push([name, duration(synced), duration(processor), megabytes(peak)]);
    }
  } finally {
    await server.stop();
  }
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
