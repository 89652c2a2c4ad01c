import { printable } from '../../../../adapters/process/quote.js';
import { missingParts } from '../../../application/cluster/node-bundle.js';
import type { Asked } from '../command-line/subcommands.js';
import { RunningProxy } from '../asking/running-proxy.js';
import { jsonLine } from '../output/formatted.js';
import { print } from '../output/print.js';
import { BundleFolder } from './bundle-folder.js';
import { collectBundle } from './collect-bundle.js';

/**
 * Collects what the proxy running on this node says about itself, and writes it into a folder, or prints it as one line of JSON. 1
 * when a part is missing.
 */
export async function dump({ request, configuration }: Asked<'dump'>): Promise<number> {
  const { to } = request;
  const folder = to === undefined ? undefined : await BundleFolder.open(to);
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const bundle = await collectBundle(proxy, Date.now());
  if (folder) {
    await folder.write(bundle.node, bundle);
    await print(`wrote ${printable(bundle.node)} into ${to}\n`);
  } else await print(jsonLine(bundle));
  return missingParts(bundle).length > 0 ? 1 : 0;
}
