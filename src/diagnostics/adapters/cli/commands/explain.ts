/** The command `explain`: how the proxy on this node handles Services, addresses and ports. */

import { exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import type { Invocation } from '../options.js';
import { Option } from 'commander';
import { parseSubject } from '../../../application/explain/explain-address.js';
import { UsageError } from '../../../../adapters/cli/usage-error.js';
import {
  namespaceOptions,
  serviceName,
  type NamespaceOptions,
  type ServiceName,
  outputOptions,
  subcommand,
  type OutputOptions,
} from '../options.js';
import { setTimeout as delay } from 'node:timers/promises';
import { networkInterfaces } from 'node:os';
import {
  explanationAnswer,
  type AddressExplanation,
  type FrontendMatch,
} from '../../../application/explain/explanation.js';
import { type EndpointMatch } from '../../../application/explain/explanation.js';
import { walkKernel } from '../../../application/explain/checks.js';
import { probeEndpoints, withChecks } from '../../../application/explain/checks.js';
import {
  type Explanation,
  type EndpointExplanation,
  type FamilyExplanation,
  type FrontendExplanation,
  type PortExplanation,
} from '../../../application/explain/explanation.js';
import type { ServiceKey } from '../../../../domain/model/service-port-name.js';
import { formatted, print, inToneOf } from '../output.js';
import { tracingByProxy } from './trace.js';
import { findKeys, type FoundServices } from '../find-services.js';
import type { UnknownName } from '../../../application/status/service-row.js';
import { RunningProxy } from '../running-proxy.js';
import { frontendPlace } from '../../../../domain/forwarding/forwarding-entry.js';
import { hostPort } from '../../../../domain/net/address.js';
import { endpointWords } from '../../../application/words.js';
import { healthCheckWords } from '../../../application/words.js';
import { outcomeWords } from '../../../application/words.js';
import { portWords } from '../../../application/words.js';
import type { PortStatus } from '../../../../application/status/port-status.js';
import { acceptedSourcesText } from '../../../application/words.js';
import { verdictsOfPorts } from '../../../application/explain/explain.js';
import { noSuchServicePort } from '../../../../domain/verdict/sentences.js';
import { worstOf, type Verdict } from '../../../../domain/verdict/verdict.js';
import { portStatusText } from '../../../application/words.js';
import type { KernelWalk, ProbedEndpoints } from '../../../application/explain/explanation.js';

interface ExplainOptions extends NamespaceOptions, OutputOptions {
  readonly probe?: boolean;
}

/** What to explain: Services, addresses, ports; and whether to try each endpoint of a Service. */
export const explainCommand = subcommand({
  name: 'explain',
  description:
    'Show the state of Services on this node with the reasons, or the owner of an address, a port or a node port.',
  summary: 'Explain a Service, an address or a port.',
  usage: 'NAME|ADDRESS[:PORT]|NODEPORT... [flags]',
  options: [
    new Option(
      '--probe',
      'Also try each endpoint of the Service from the node: its route, its neighbor entry, and a TCP connection of one second.',
    ),
    ...namespaceOptions,
    ...outputOptions,
  ],
  request(operands, { probe = false, namespace, output }: ExplainOptions) {
    if (operands.length === 0)
      throw new UsageError('explain takes a Service, an address, or a port, got none');
    const subjects = operands.map((operand) => subjectOf(operand, namespace));
    if (probe && subjects.some((subject) => typeof subject === 'string'))
      throw new UsageError('explain --probe takes Services');
    return { subjects, probe, output };
  },
});

/** An address or a port as written; otherwise the name of a Service. */
function subjectOf(operand: string, namespace: string | undefined): string | ServiceName {
  if (parseSubject(operand)?.kind === 'address') return operand;
  const name = /^\d+$/.test(operand) ? undefined : serviceName(operand, namespace);
  if (name) return name;
  throw new UsageError(
    `explain takes a Service as NAME or NAMESPACE/NAME, an address, or a port, got ${JSON.stringify(operand)}`,
  );
}

/** How long the rules of the kernel are looked at, in milliseconds. */
const KERNEL_WALK = 2_000;

type Explained = Explanation | AddressExplanation;

/**
 * Asks the proxy running on this node how it handles Services, addresses or ports, and prints it. Of a Service it has packets
 * followed through the rules of the kernel, too, and tries its endpoints if asked to. 1 when the proxy does not know one, or
 * something stops the traffic of one.
 */
export async function explain({
  request,
  configuration,
}: Invocation<typeof explainCommand>): Promise<number> {
  const { subjects, probe, output } = request;
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const all: Explained[] = [];
  for (const subject of subjects) if (typeof subject === 'string') all.push(await ask(proxy, subject));
  const names = subjects.filter((subject) => typeof subject !== 'string');
  const found = await findKeys(proxy, names);
  for (const key of found.keys) all.push(await explainService(proxy, key, found, probe));
  // The answer about a Service with its namespace reports that it or a port does not exist.
  all.push(...found.unknown.filter(({ name }) => !/[/:]/.test(name)).map(notFound));
  const [only] = all;
  await print(
    all.length === 1 ? formatted(output, only!, explainedLines) : formatted(output, all, allExplainedLines),
  );
  return exitCodeOf(!all.every(isOk));
}

/** Of a name without a namespace, which no Service that this proxy knows has. */
function notFound({ name, reason }: UnknownName): Explanation {
  return {
    service: name,
    verdict: { state: 'error', cause: 'NotFound', reason },
    known: false,
    objects: [],
    families: [],
  };
}

function ask(proxy: RunningProxy, subject: string): Promise<Explained> {
  return proxy.query(`/debug/explain?${new URLSearchParams({ subject }).toString()}`, explanationAnswer);
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
    ports: family.ports.filter(({ portName }) => found.hasPort(key, portName)),
  }));
  const names = answer.families.flatMap(({ ports }) => ports.map(({ portName }) => portName));
  const missing = found.portsOf(key).filter((port) => !names.includes(port));
  const verdicts = [
    ...missing.map((port) => noSuchServicePort(port, names)),
    ...(found.portsOf(key).length > 0 ? [...answer.objects, ...verdictsOfPorts(families)] : [answer.verdict]),
  ];
  return checked({ ...answer, families, verdict: worstOf(verdicts) ?? answer.verdict }, proxy, isProbed);
}

/** The answer, with what this command itself finds out. */
async function checked(answer: Explanation, proxy: RunningProxy, isProbed: boolean): Promise<Explanation> {
  const kernel = await walkKernel(
    answer,
    tracingByProxy(proxy, 'actual'),
    ownAddresses(),
    delay(KERNEL_WALK),
  );
  return withChecks(answer, kernel, isProbed ? await probed(answer) : undefined);
}

async function probed(answer: Explanation): Promise<ProbedEndpoints> {
  const { NetlinkEndpointAccess } = await import('../../netlink-endpoint-access.js');
  const access = new NetlinkEndpointAccess();
  try {
    return await probeEndpoints(answer, access);
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
export function allExplainedLines(all: readonly Explained[], isWide: boolean): readonly string[] {
  return all.flatMap((one, index) => [...(index > 0 ? [''] : []), ...explainedLines(one, isWide)]);
}

/** For people. */
export function explainedLines(explained: Explained, isWide: boolean): readonly string[] {
  return 'service' in explained ? explanationLines(explained, isWide) : addressExplanationLines(explained);
}

/** Whether it exists, and all verdicts on it are ok. */
export function isOk(explained: Explained): boolean {
  if ('service' in explained) return explained.verdict.state === 'ok';
  const { otherwise, frontends, endpoints } = explained;
  return (
    otherwise === undefined &&
    frontends.every(({ state }) => state === 'ok') &&
    !endpoints.some(({ unresponsive }) => unresponsive)
  );
}

/** An explanation for people: the verdict, the next step, and the details. @param isWide with all endpoints */
export function explanationLines(explained: Explanation, isWide = false): readonly string[] {
  const { service, known, verdict, objects, candidates, families, kernelPath, probe } = explained;
  const { uncountedReason } = explained;
  const { state, reason, nextStep } = verdict;
  return [
    `${service}: ${inToneOf(state)}: ${reason}`,
    ...(nextStep === undefined ? [] : [`  next: ${nextStep}`]),
    ...objects.filter((one) => one.reason !== reason).map((one) => `  ${verdictText(one)}`),
    ...(candidates ? [`  EndpointSlices that may be meant for it: ${candidates.join(', ')}`] : []),
    ...(known ? families.flatMap((family) => familyLines(family, verdict, isWide)) : []),
    ...(uncountedReason === undefined
      ? []
      : [`  connections without an answer are not counted: ${uncountedReason}`]),
    ...(kernelPath ? kernelWalkLines(kernelPath) : []),
    ...(probe ? probedEndpointsLines(probe) : []),
  ];
}

function verdictText({ state, reason, nextStep }: Verdict): string {
  const next = nextStep === undefined ? '' : `; ${nextStep}`;
  return `${inToneOf(state, state === 'ok' ? 'note' : state)}: ${reason}${next}`;
}

/** @param main the verdict on the Service, which is shown already */
function familyLines(
  { family, pending, ports, absence, healthCheck, sync }: FamilyExplanation,
  main: Verdict,
  isWide: boolean,
): readonly string[] {
  const lines = [`  ${family}${pending ? ', changes wait for the next sync' : ''}`];
  if (absence) lines.push(`    ${absence.reason}`);
  for (const port of ports) lines.push(...portLines(port, main, isWide));
  if (healthCheck) lines.push(`    ${healthCheckWords(healthCheck)}`);
  if (sync.failures > 0 && sync.lastFailure)
    lines.push(`    no sync has succeeded since ${sync.lastFailure.time}: ${sync.lastFailure.reason}`);
  if (sync.drift.lastTime !== undefined)
    lines.push(`    changes by another program were last repaired ${sync.drift.lastTime}`);
  return lines;
}

/** Causes that the status of a port shows. */
const OF_STATUS: ReadonlySet<string> = new Set([
  'ProgrammingFailed',
  'NotSupportedByMode',
  'FrontendConflict',
  'LimitedProgramming',
  'Pending',
]);

/** Endpoints that are shown, unless all are requested. */
const MOST_ENDPOINTS = 20;

function portLines(explained: PortExplanation, main: Verdict, isWide: boolean): readonly string[] {
  const { status, frontends, endpoints, verdicts, affinitySeconds, balancing, sourceRanges } = explained;
  const lines = [`    port ${portWords(explained)}: ${statusText(status)}`];
  for (const frontend of frontends) lines.push(`      ${frontendText(frontend)}`);
  const shown = isWide ? endpoints : endpoints.slice(0, MOST_ENDPOINTS);
  for (const endpoint of shown) lines.push(`      ${endpointText(endpoint)}`);
  if (shown.length < endpoints.length)
    lines.push(`      and ${endpoints.length - shown.length} more (-o wide)`);
  const isShown = (one: Verdict): boolean =>
    one.cause === undefined ||
    OF_STATUS.has(one.cause) ||
    [main, ...frontends].some(({ reason }) => reason === one.reason);
  for (const one of verdicts) if (!isShown(one)) lines.push(`      ${verdictText(one)}`);
  if (balancing !== undefined) lines.push(`      ${balancing}`);
  if (affinitySeconds > 0) lines.push(`      clients stay with their endpoint for ${affinitySeconds} s`);
  if (sourceRanges.length > 0) lines.push(`      ${acceptedSourcesText(sourceRanges)}`);
  return lines;
}

function statusText(status: PortStatus): string {
  return inToneOf(status.state, portStatusText(status));
}

function frontendText(frontend: FrontendExplanation): string {
  const { kind, policy } = frontend;
  return `${kind} ${frontendPlace(frontend)} (${policy}): ${outcomeWords(frontend, inToneOf)}`;
}

function endpointText(endpoint: EndpointExplanation): string {
  return `endpoint ${hostPort(endpoint.address, endpoint.port)}: ${endpointWords(endpoint)}`;
}

/** For people. */
export function addressExplanationLines(explained: AddressExplanation): readonly string[] {
  const { subject, frontends, endpoints, otherwise } = explained;
  return [
    subject,
    ...(otherwise === undefined ? [] : [`  ${otherwise}`]),
    ...frontends.flatMap((match) => [
      `  frontend of ${ownerText(match)}: ${statusText(match.status)}`,
      `    ${frontendText(match)}`,
      ...(match.sourceRanges ? [`    ${acceptedSourcesText(match.sourceRanges)}`] : []),
    ]),
    ...endpoints.flatMap((match) => [`  endpoint of ${ownerText(match)}`, `    ${endpointText(match)}`]),
  ];
}

function ownerText(match: FrontendMatch | EndpointMatch): string {
  return `${match.service}, port ${portWords(match)}, ${match.family}`;
}

/** For people, a line for each obstacle. */
export function kernelWalkLines({ obstacles, incompleteReason }: KernelWalk): readonly string[] {
  return [
    ...obstacles.map(
      ({ from, to, outcome, reason }) =>
        `  in the kernel: from ${from} to ${to}: ${outcome}, ${reason}; \`kubeproxy trace --kernel --from ${from} --to ${to}\` shows its path`,
    ),
    ...(incompleteReason === undefined
      ? []
      : [`  in the kernel: not everything was checked: ${incompleteReason}`]),
  ];
}

/** For people, a line for each endpoint. */
export function probedEndpointsLines({ endpoints, omitted }: ProbedEndpoints): readonly string[] {
  return [
    ...endpoints.map(
      ({ endpoint, protocol, facts }) => `  probe of ${endpoint}/${protocol}: ${facts.join(', ')}`,
    ),
    ...(endpoints.length === 0 ? ['  probe: no endpoint is used'] : []),
    ...(omitted > 0 ? [`  probe: ${omitted} more were not tried`] : []),
  ];
}
