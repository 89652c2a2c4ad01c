/** Results of all nodes as text for people. */

import { inToneOf, columns } from '../output.js';
import { grouped as groupedBy } from '../../../../domain/model/maps.js';
import type { SilentNode } from '../../../application/cluster/query-nodes.js';
import { counted } from '../../../../application/words.js';
import { differenceLines } from '../commands/diff.js';
import type { ClusterDifferences } from '../../../application/cluster/cluster-comparison.js';
import type { ClusterExplanation, NodeDifference } from '../../../application/cluster/cluster-explanation.js';
import type { ClusterService, ClusterServices } from '../../../application/cluster/cluster-status.js';
import { proxyWord } from '../../../application/words.js';
import type { ClusterStatus, NodeRow } from '../../../application/cluster/cluster-status.js';
import type { ClusterTraces } from '../../../application/cluster/cluster-traces.js';
import type { TraceVerdict } from '../../../application/cluster/cluster-traces.js';
import type { ClusterTraffic } from '../../../application/cluster/cluster-activity.js';
import { displayName } from '../../../../domain/model/service-port-name.js';

/** Names that are listed before the rest is only counted. */
const LISTED = 5;

const NO_ANSWER = inToneOf('silent', 'no answer');

/** A few names, and how many more there are. */
export function named(nodes: readonly string[]): string {
  const more = nodes.length - LISTED;
  return more > 1 ? `${nodes.slice(0, LISTED).join(', ')} and ${more} more` : nodes.join(', ');
}

/** One line for all nodes with the same text: `label: node-1, node-2 (text)`. */
export function grouped<Item extends { readonly node: string }>(
  label: string,
  items: readonly Item[],
  textOf: (item: Item) => string,
): readonly string[] {
  const alike = [...groupedBy(items, textOf)];
  return alike.map(([text, group]) => `${label}: ${named(group.map(({ node }) => node))} (${text})`);
}

/** Who did not answer, and why. @param each with a line for each node */
export function noAnswerLines(silent: readonly SilentNode[], each: boolean): readonly string[] {
  if (each) return silent.map(({ node, reason }) => `${NO_ANSWER}: ${node} (${reason})`);
  return grouped(NO_ANSWER, silent, ({ reason }) => reason);
}

/** For people. */
export function clusterDifferencesLines({ asked, alike, different }: ClusterDifferences): readonly string[] {
  return [
    `no difference on ${alike} of ${counted(asked, 'node')}`,
    ...different.flatMap(({ node, ...report }) => [
      `${node}:`,
      ...differenceLines(report).map((line) => `  ${line}`),
    ]),
  ];
}

/** Differences of a node that are listed; the rest is counted, except with -o wide. */
const FACTS_LISTED = 3;

/** A comparison for people. */
export function clusterExplanationLines(compared: ClusterExplanation, isWide: boolean): readonly string[] {
  const { service, asked, alike, known, problems, behind, failed, degraded, different } = compared;
  const on = `on ${alike} of ${counted(asked, 'node')}`;
  const late = behind.map(({ node, seconds }) =>
    seconds === undefined ? node : `${node} (${seconds.toFixed(1)} s)`,
  );
  return [
    known
      ? `${service}: programmed alike ${on}`
      : `${service}: not served ${on}; \`kubeproxy explain\` on a node says why`,
    ...problems.map((problem) => `problem: ${problem}`),
    ...grouped(inToneOf('failed'), failed, ({ reasons }) => reasons.join('; ')),
    ...grouped(inToneOf('degraded'), degraded, ({ reasons }) => reasons.join('; ')),
    ...(late.length > 0 ? [`behind: ${isWide ? late.join(', ') : named(late)}`] : []),
    ...grouped(inToneOf('different'), different, (difference) => factsText(difference, isWide)),
  ];
}

function factsText({ lacks, has }: NodeDifference, isWide: boolean): string {
  const facts = [...lacks.map((fact) => `lacks ${fact}`), ...has.map((fact) => `has ${fact}`)];
  const more = isWide ? 0 : facts.length - FACTS_LISTED;
  return (more > 1 ? [...facts.slice(0, FACTS_LISTED), `${more} more`] : facts).join('; ');
}

const SERVICE_HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'PROGRAMMED', 'OTHERWISE'];

/** One line a Service. */
export function clusterServicesLines({ services }: ClusterServices): readonly string[] {
  return columns(SERVICE_HEADERS, services.map(serviceCells));
}

function serviceCells(service: ClusterService): readonly string[] {
  const otherwise = grouped('on', service.others, ({ state, reason }) => `${inToneOf(state)}: ${reason}`);
  const { namespace, name, type = '-', listed, programmed } = service;
  return [namespace, name, type, `${programmed}/${listed}`, otherwise.join('; ')];
}

const STATUS_HEADERS = ['NODE', 'STATE', 'VERSION', 'MODE', 'IN SYNC', 'LAG', 'FAILING', 'DRIFT'];

/** One line a node. */
export function clusterStatusLines({ nodes }: ClusterStatus, isWide: boolean): readonly string[] {
  const rows = nodes.map((row) => [...statusCells(row), ...(isWide ? [row.reasons.join('; ')] : [])]);
  return rows.length > 0 ? columns([...STATUS_HEADERS, ...(isWide ? ['REASONS'] : [])], rows) : [];
}

function statusCells(row: NodeRow): readonly string[] {
  const state = inToneOf(row.state, proxyWord(row.state));
  const sync = row.inSync ? ['yes', '-'] : ['no', `${row.lagSeconds.toFixed(1)} s`];
  return [row.node, state, row.version, row.mode, ...sync, String(row.failing), String(row.drift)];
}

const SOURCES = { true: 'the source is rewritten', false: 'the source is kept', mixed: 'the source depends' };

/** For people. */
export function clusterTracesLines({ fates, failed }: ClusterTraces, isWide: boolean): readonly string[] {
  return [
    ...fates.flatMap((fate) => [
      `${inToneOf(fate.outcome)}: ${isWide ? fate.nodes.join(', ') : named(fate.nodes)}`,
      ...leadsTo(fate),
    ]),
    ...grouped(inToneOf('failed'), failed, ({ reason }) => reason),
  ];
}

function leadsTo({ endpoints, sourceRewritten }: TraceVerdict): readonly string[] {
  if (endpoints.length === 0) return [];
  return [`  to ${named(endpoints)}; ${SOURCES[`${sourceRewritten}`]}`];
}

const TRAFFIC_HEADERS = ['SERVICE PORT', 'PROTOCOL', 'OPEN', 'NEW/S', 'UNANSWERED', 'NODES'];

/** One line a service port, and whose connections are missing. */
export function clusterTrafficLines({ services, untracked }: ClusterTraffic): readonly string[] {
  const rows = services.map(({ nodes, portName, ...port }) => [
    displayName({ ...port, port: portName }),
    port.protocol,
    String(port.openConnections),
    port.newConnectionsPerSecond.toFixed(1),
    String(port.unansweredConnections),
    String(nodes),
  ]);
  return [
    ...(rows.length > 0 ? columns(TRAFFIC_HEADERS, rows) : ['no connections of Services']),
    ...(untracked.length > 0
      ? [`not tracked: ${named(untracked)} (through IPVS: set net.ipv4.vs.conntrack to 1)`]
      : []),
  ];
}
