import type { AddressExplanation } from '../../../application/explain/address-explanation.js';
import { addressExplanationText } from '../../../application/explain/address-explanation-text.js';
import { isSound, type Explanation } from '../../../application/explain/explanation.js';
import { explanationText } from '../../../application/explain/explanation-text.js';
import type { Asked } from '../../configuration/command-line.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { RunningProxy } from './running-proxy.js';

/**
 * Asks the proxy running on this node how it handles a Service, an address or a port, and prints it. 1 when it does not know
 * it, or something stops the Service's traffic.
 */
export async function explain({ request, configuration }: Asked<'explain'>): Promise<number> {
  const { subject, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const explained = await proxy.ask<Explanation | AddressExplanation>(
    `/debug/explain?${new URLSearchParams({ subject }).toString()}`,
  );
  await print(formatted(output, explained, textOf));
  return isGood(explained) ? 0 : 1;
}

function textOf(explained: Explanation | AddressExplanation): string {
  return 'service' in explained ? explanationText(explained) : addressExplanationText(explained);
}

function isGood(explained: Explanation | AddressExplanation): boolean {
  return 'service' in explained ? isSound(explained) : explained.otherwise === undefined;
}
