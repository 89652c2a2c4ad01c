import type { Explanation } from '../../application/use-cases/explanation.js';
import { explanationText } from '../../application/use-cases/explanation-text.js';
import type { Asked } from '../configuration/command-line.js';
import { RunningProxy } from './asking/running-proxy.js';

/** Asks the proxy running on this node how it handles a Service, and prints it. 1 when it does not know that Service. */
export async function explain({ request, configuration }: Asked<'explain'>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const explanation = await proxy.ask<Explanation>(`/debug/services/${request.service}`);
  process.stdout.write(explanationText(explanation));
  return explanation.known ? 0 : 1;
}
