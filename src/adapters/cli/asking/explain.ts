import { setTimeout as delay } from 'node:timers/promises';
import { networkInterfaces } from 'node:os';
import { NetlinkEndpointAccess } from '../../rtnetlink/netlink-endpoint-access.js';
import { explanationAnswer } from '../../../application/explain/address-explanation.js';
import type { AddressExplanation } from '../../../application/explain/address-explanation.js';
import { addressExplanationLines } from '../texts/address-explanation.js';
import { walkKernel } from '../../../application/explain/checks/kernel-walk.js';
import { probeEndpoints } from '../../../application/explain/checks/probe-endpoints.js';
import { isSound, type Explanation } from '../../../application/explain/explanation.js';
import { explanationLines } from '../texts/explanation.js';
import type { Asked } from '../arguments/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { askProxy } from '../tracing/ask-proxy.js';
import { RunningProxy } from './running-proxy.js';

/** How long the rules of the kernel are looked at, in milliseconds. */
const KERNEL_WALK = 2_000;

/**
 * Asks the proxy running on this node how it handles a Service, an address or a port, and prints it. Of a Service it has packets
 * followed through the rules of the kernel, too, and tries its endpoints if asked to. 1 when the proxy does not know it, or
 * something stops the Service's traffic.
 */
export async function explain({ request, configuration }: Asked<'explain'>): Promise<number> {
  const { subject, probe, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const answer = await proxy.ask(
    `/debug/explain?${new URLSearchParams({ subject }).toString()}`,
    explanationAnswer,
  );
  const explained = 'service' in answer && answer.known ? await checked(answer, proxy, probe) : answer;
  await print(formatted(output, explained, textOf));
  return isGood(explained) ? 0 : 1;
}

/** The answer, with what this command itself finds out. */
async function checked(answer: Explanation, proxy: RunningProxy, isProbed: boolean): Promise<Explanation> {
  const kernel = await walkKernel(answer, askProxy(proxy, 'actual'), ownAddresses(), delay(KERNEL_WALK));
  if (!isProbed) return { ...answer, kernel };
  const access = new NetlinkEndpointAccess();
  try {
    return { ...answer, kernel, probe: await probeEndpoints(answer, access) };
  } finally {
    await access.close();
  }
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.flatMap(({ address, internal, scopeid }) => (internal || scopeid ? [] : address)),
  );
}

function textOf(explained: Explanation | AddressExplanation): readonly string[] {
  return 'service' in explained ? explanationLines(explained) : addressExplanationLines(explained);
}

function isGood(explained: Explanation | AddressExplanation): boolean {
  return 'service' in explained ? isSound(explained) : explained.otherwise === undefined;
}
