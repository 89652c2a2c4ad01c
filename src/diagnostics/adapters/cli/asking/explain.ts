import { setTimeout as delay } from 'node:timers/promises';
import { networkInterfaces } from 'node:os';
import { NetlinkEndpointAccess } from '../../netlink-endpoint-access.js';
import { explanationAnswer } from '../../../application/explain/address-explanation.js';
import type { AddressExplanation } from '../../../application/explain/address-explanation.js';
import { addressExplanationLines } from '../texts/address-explanation.js';
import { walkKernel } from '../../../application/explain/checks/kernel-walk.js';
import { probeEndpoints } from '../../../application/explain/checks/probe-endpoints.js';
import { isSound, type Explanation } from '../../../application/explain/explanation.js';
import { explanationLines } from '../texts/explanation.js';
import type { ServiceKey } from '../../../../domain/model/service-port-name.js';
import type { Asked } from '../command-line/subcommands.js';
import { formatted } from '../output/formatted.js';
import { print } from '../output/print.js';
import { askProxy } from '../tracing/ask-proxy.js';
import { findServices, type FoundServices } from './find-services.js';
import { RunningProxy } from './running-proxy.js';
import { complainOf } from './unknown-service.js';

/** How long the rules of the kernel are looked at, in milliseconds. */
const KERNEL_WALK = 2_000;

type Explained = Explanation | AddressExplanation;

/**
 * Asks the proxy running on this node how it handles Services, addresses or ports, and prints it. Of a Service it has packets
 * followed through the rules of the kernel, too, and tries its endpoints if asked to. 1 when the proxy does not know one, or
 * something stops the traffic of one.
 */
export async function explain({ request, configuration }: Asked<'explain'>): Promise<number> {
  const { subjects, probe, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const all: Explained[] = [];
  for (const subject of subjects) if (typeof subject === 'string') all.push(await ask(proxy, subject));
  const names = subjects.filter((subject) => typeof subject !== 'string');
  const found = await findServices(proxy, names);
  for (const key of found.keys) all.push(await explainService(proxy, key, found, probe));
  const [only] = all;
  const isOne = all.length === 1 && subjects.length === 1;
  if (only) await print(isOne ? formatted(output, only, textOf) : formatted(output, all, textsOf));
  return !complainOf(found.unknown) && all.every(isGood) ? 0 : 1;
}

function ask(proxy: RunningProxy, subject: string): Promise<Explained> {
  return proxy.ask(`/debug/explain?${new URLSearchParams({ subject }).toString()}`, explanationAnswer);
}

async function explainService(
  proxy: RunningProxy,
  key: ServiceKey,
  found: FoundServices,
  isProbed: boolean,
): Promise<Explained> {
  const answer = await ask(proxy, key);
  if (!('service' in answer && answer.known)) return answer;
  const families = answer.families.map((family) => ({
    ...family,
    ports: family.ports.filter(({ port }) => found.hasPort(key, port)),
  }));
  const names = answer.families.flatMap(({ ports }) => ports.map(({ port }) => port));
  const missing = found.portsOf(key).filter((port) => !names.includes(port));
  const problems = missing.map(
    (port) => `it has no port named ${port} (it has: ${[...new Set(names)].join(', ')})`,
  );
  return checked({ ...answer, families, problems: [...answer.problems, ...problems] }, proxy, isProbed);
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

/** One after the other, with an empty line between them. */
function textsOf(all: readonly Explained[]): readonly string[] {
  return all.flatMap((one, index) => (index === 0 ? textOf(one) : ['', ...textOf(one)]));
}

function textOf(explained: Explained): readonly string[] {
  return 'service' in explained ? explanationLines(explained) : addressExplanationLines(explained);
}

function isGood(explained: Explained): boolean {
  return 'service' in explained ? isSound(explained) : explained.otherwise === undefined;
}
