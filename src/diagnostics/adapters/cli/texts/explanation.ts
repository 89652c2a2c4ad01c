import { inToneOf } from '../output/tones.js';
import { frontendPlace } from '../../../../domain/forwarding/forwarding-entry.js';
import { hostPort } from '../../../../domain/net/address.js';
import { endpointWords } from '../../../application/words/endpoint-words.js';
import { healthCheckWords } from '../../../application/words/health-check-words.js';
import { outcomeWords } from '../../../application/words/frontend-words.js';
import { portWords } from '../../../application/words/port-words.js';
import type {
  EndpointExplanation,
  Explanation,
  FamilyExplanation,
  FrontendExplanation,
  PortExplanation,
} from '../../../application/explain/explanation.js';
import type { PortStatus } from '../../../../application/status/port-status.js';
import { kernelWalkLines, probedEndpointsLines } from './checks.js';
import { acceptedSourcesText } from '../../../application/words/source-words.js';
import type { FindingKind } from '../../../application/explain/findings.js';
import { portStatusText } from '../../../application/words/state-words.js';

/** An explanation for people. */
export function explanationLines(explained: Explanation): readonly string[] {
  const { service, known, unserved, problems, families, kernel, probe } = explained;
  const lines = [service];
  if (unserved) lines.push(`  The proxy does not serve it: ${unserved.text}.`);
  for (const problem of problems) if (!unserved?.text.includes(problem)) lines.push(`  problem: ${problem}`);
  if (known) for (const family of families) lines.push(...familyLines(family));
  if (kernel) lines.push(...kernelWalkLines(kernel));
  if (probe) lines.push(...probedEndpointsLines(probe));
  return lines;
}

function familyLines({
  family,
  waiting,
  ports,
  absence,
  healthCheck,
  sync,
}: FamilyExplanation): readonly string[] {
  const lines = [`  ${family}${waiting ? ', changes wait for the next sync' : ''}`];
  if (absence) lines.push(`    ${absence.text}`);
  for (const port of ports) lines.push(...portLines(port));
  if (healthCheck) lines.push(`    ${healthCheckWords(healthCheck)}`);
  if (sync.failures > 0 && sync.lastFailure)
    lines.push(`    no sync has succeeded since ${sync.lastFailure.at}: ${sync.lastFailure.reason}`);
  if (sync.drift.last !== undefined)
    lines.push(`    rules that another program had changed were last repaired ${sync.drift.last}`);
  return lines;
}

/** What neither the status nor the frontends tell. */
const UNSAID: ReadonlySet<FindingKind> = new Set(['draining', 'other-zones', 'not-forwarded', 'bridged']);

function portLines(explained: PortExplanation): readonly string[] {
  const { status, frontends, endpoints, findings, affinitySeconds, choice, sourceRanges } = explained;
  const lines = [`    port ${portWords(explained)}: ${statusText(status)}`];
  for (const frontend of frontends) lines.push(`      ${frontendText(frontend)}`);
  for (const endpoint of endpoints) lines.push(`      ${endpointText(endpoint)}`);
  for (const { kind, isFault, text } of findings)
    if (UNSAID.has(kind)) lines.push(`      ${isFault ? 'problem' : 'note'}: ${text}`);
  if (choice !== undefined) lines.push(`      ${choice}`);
  if (affinitySeconds > 0) lines.push(`      clients stay with their endpoint for ${affinitySeconds} s`);
  if (sourceRanges.length > 0) lines.push(`      ${acceptedSourcesText(sourceRanges)}`);
  return lines;
}

export function statusText(status: PortStatus): string {
  return inToneOf(status.state, portStatusText(status));
}

export function frontendText(frontend: FrontendExplanation): string {
  const { kind, policy } = frontend;
  return `${kind} ${frontendPlace(frontend)} (${policy}): ${outcomeWords(frontend, inToneOf)}`;
}

export function endpointText(endpoint: EndpointExplanation): string {
  return `endpoint ${hostPort(endpoint.address, endpoint.port)}: ${endpointWords(endpoint)}`;
}
