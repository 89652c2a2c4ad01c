/** Commands that work without a running proxy: `plan` prints the rules that a start would write, `diff --plan` compares them with the kernel, `trace` follows packets through those of manifests. */

import { exitCodeOf } from '../../adapters/cli/exit-code.js';
import { supportedFamilies } from '../../adapters/process/host-facts.js';
import { ConfigurationError } from '../../bootstrap/configuration/errors.js';
import type { Logger } from '../../application/ports/logger.js';
import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { type IpFamily, IP_FAMILIES } from '../../domain/net/ip-family.js';
import { type Invocation, readObjects, type ReadObjects, otherMachine } from './read-objects.js';
import { followRelease } from '../../bootstrap/follow-release.js';
import { chooseMode } from '../../bootstrap/modes/choose-mode.js';
import { print, formatted } from '../adapters/cli/output.js';
import { printError } from '../../adapters/cli/print-error.js';
import { ModeRules } from './mode-rules.js';
import { nameText, type ServiceName } from '../adapters/cli/options.js';
import { differenceLines } from '../adapters/cli/commands/diff.js';
import { UsageError } from '../../adapters/cli/usage-error.js';
import {
  isNone,
  linesOf,
  type DifferenceReport,
  plannedDifference,
} from '../application/difference/difference-report.js';
import { parseDisplayName } from '../../domain/model/service-port-name.js';
import type { Mode } from '../../bootstrap/modes/mode.js';
import { podsOfCluster } from '../adapters/kubernetes/user-cluster.js';
import { answerRequest } from '../adapters/cli/commands/trace.js';
import { placesIn } from '../application/trace/named-ends.js';
import { withTracing } from './tracing.js';

/**
 * Prints the rules that a sync would write, in the language of the mode's tool. Reads the source once; changes nothing. 0 when all
 * objects are in it; otherwise 1, with the others on standard error. Throws when nothing comes from the API server for `timeout`
 * milliseconds.
 */
export async function plan(
  invocation: Invocation<'plan'>,
  logger: Logger,
  timeout?: number,
): Promise<number> {
  const { commandLine } = await chooseMode(await followRelease(invocation, logger), logger);
  const rules = new ModeRules(commandLine.configuration, logger);
  if (rules.mode === 'userspace')
    throw new ConfigurationError('failed validate', [
      'plan does not support userspace mode: its rules contain ports that are chosen when it runs',
    ]);
  const families = supportedFamilies();
  const planned = chosenFamilies(invocation.request.family, families);
  const options = { families, ...(timeout !== undefined && { timeout }) };
  return readObjects(commandLine, options, logger, async (read) => {
    const texts = planned.map((family) => {
      const { forwarding, network } = read.contexts.of(family, true);
      return rules.tracer(family).plan!(ForwardingTable.of(read.state, forwarding).entries(), network);
    });
    await print((await Promise.all(texts)).join('\n'));
    for (const reason of read.problems) printError(`not planned: ${reason}`);
    return exitCodeOf(read.problems.length > 0);
  });
}

function chosenFamilies(family: IpFamily | undefined, supported: readonly IpFamily[]): readonly IpFamily[] {
  if (!family) return supported;
  if (supported.includes(family)) return [family];
  throw new Error(`this machine cannot serve ${family}, so nothing would be written for it`);
}

/**
 * Prints what a start with these flags would change in the kernel. Reads the source once, and the kernel; changes nothing. 1 when
 * something differs, an object is ignored, or a named Service is neither in the
 * objects nor in a difference.
 * @throws when the mode cannot be opened, the kernel cannot be read, or nothing comes from the API server
 */
export async function plannedDiff(invocation: Invocation<'diff'>, logger: Logger): Promise<number> {
  const { services, output, watch } = invocation.request;
  if (watch)
    throw new UsageError('diff watches a running proxy, not a plan: leave out --watch', 'kubeproxy diff');
  const { commandLine, mode } = await chooseMode(await followRelease(invocation, logger), logger);
  return readObjects(commandLine, { families: supportedFamilies() }, logger, async (read) => {
    const all = await differences(mode, read, invocation.manifests.length > 0);
    const report = services.length === 0 ? all : linesOf(all, (...port) => services.some(isNamed(...port)));
    await print(formatted(output, report, differenceLines));
    for (const reason of read.problems) printError(`not planned: ${reason}`);
    const unknown = services.filter((name) => !isKnown(name, read, report));
    for (const name of unknown) printError(`${nameText(name)}: the plan has no such Service`);
    return exitCodeOf(!isNone(report) || read.problems.length > 0 || unknown.length > 0);
  });
}

/** @param keepUnexplained rules stay that none of these objects explains */
async function differences(
  mode: Mode,
  { state, contexts, parts }: ReadObjects,
  keepUnexplained: boolean,
): Promise<DifferenceReport> {
  const open = await mode.open('compare');
  try {
    const families: DifferenceReport['families'][number][] = [];
    for (const family of open.families) {
      const backend = open.backend(family, parts);
      families.push(await plannedDifference(state, contexts.of(family, true), backend, { keepUnexplained }));
    }
    return { mode: open.name, families };
  } finally {
    await open.close();
  }
}

function isNamed(service: string, port: string): (name: ServiceName) => boolean {
  return (name) => isService(name, service) && (name.port ?? port) === port;
}

/** In the objects, or in a difference. */
function isKnown(name: ServiceName, { state }: ReadObjects, { families }: DifferenceReport): boolean {
  return (
    [...state.serviceKeys()].some((key) => isService(name, key)) ||
    families.some(({ lines }) =>
      lines.some(({ servicePort = '' }) => isService(name, parseDisplayName(servicePort).service)),
    )
  );
}

/** A name without a namespace is that of every namespace. */
function isService({ service }: ServiceName, key: string): boolean {
  return key === service || key.endsWith(`/${service}`);
}

/** Reads the manifests once, and answers from them. Objects that are ignored are named on standard error. */
export async function traceManifests(invocation: Invocation<'trace'>, logger: Logger): Promise<number> {
  const { commandLine } = await chooseMode(invocation, logger);
  const { here, options } = otherMachine(logger);
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems, parts }) => {
    for (const problem of problems) printError(`ignored: ${problem}`);
    const tables = IP_FAMILIES.map((family) => ({
      family,
      table: ForwardingTable.of(state, contexts.of(family, true).forwarding),
    }));
    return withTracing(parts, tables, here, new ModeRules(commandLine.configuration, logger), (packets) =>
      answerRequest(invocation.request, (query) => packets.trace(query, invocation.request.rules), {
        places: () => Promise.resolve(placesIn(tables)),
        pods: podsOfCluster(invocation),
      }),
    );
  });
}
