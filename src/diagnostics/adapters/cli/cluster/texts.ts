/** Results of all nodes as text for people. */

import { inToneOf, columns } from '../output.js';
import { grouped as groupedBy } from '../../../../domain/model/maps.js';
import { worstOf } from '../../../../domain/verdict/verdict.js';
import type { NodeGroup, UnreachableNode } from '../../../application/cluster/query-nodes.js';
import { counted, ejectedCountText } from '../../../../application/words.js';
import type { ClusterExplanation, Explained } from '../../../application/cluster/cluster-explanation.js';
import type {
  ClusterService,
  ClusterServices,
  ClusterStatus,
  NodeRow,
} from '../../../application/cluster/cluster-status.js';
import { proxyWord } from '../../../application/words.js';
import type { ClusterTraffic } from '../../../application/cluster/cluster-activity.js';
import { displayName } from '../../../../domain/model/service-port-name.js';
import { explainedLines } from '../commands/explain.js';

/** Names that are listed before the rest is only counted. */
const LISTED = 5;

const UNREACHABLE = inToneOf('unreachable', 'not reachable');

/** A few names, and how many more there are. @param isWide all of them */
export function named(nodes: readonly string[], isWide = false): string {
  const more = nodes.length - LISTED;
  return more > 1 && !isWide ? `${nodes.slice(0, LISTED).join(', ')} and ${more} more` : nodes.join(', ');
}

/** Nodes that are not reachable, and why: a line for all with the same reason. @param each with a line for each node */
export function unreachableLines(nodes: readonly UnreachableNode[], each: boolean): readonly string[] {
  if (each) return nodes.map(({ node, reason }) => `${UNREACHABLE}: ${node} (${reason})`);
  return Array.from(
    groupedBy(nodes, ({ reason }) => reason),
    ([reason, alike]) => `${UNREACHABLE}: ${named(alike.map(({ node }) => node))} (${reason})`,
  );
}

/** `on 2 of 3 nodes`; with several groups, their names: `on 2 of 3 nodes (node-1, node-2)`. */
function onNodes(
  nodes: readonly string[],
  {
    queried,
    isWide,
    isOnly,
  }: { readonly queried: number; readonly isWide: boolean; readonly isOnly: boolean },
): string {
  const on = `on ${nodes.length} of ${counted(queried, 'node')}`;
  return isOnly && nodes.length === queried ? on : `${on} (${named(nodes, isWide)})`;
}

/**
 * Groups of nodes for people: for each its nodes, and the text of its first node.
 * @param headOf the first line, before and after the nodes, and lines that come before the details
 */
export function groupLines<Answer>(
  groups: readonly NodeGroup<Answer>[],
  { queried, isWide }: { readonly queried: number; readonly isWide: boolean },
  headOf: (answer: Answer) => readonly [before: string, after: string, ...next: readonly string[]],
  linesOf: (answer: Answer) => readonly string[],
): readonly string[] {
  return groups.flatMap(({ nodes, answer }) => {
    const [before, after, ...next] = headOf(answer);
    const on = onNodes(nodes, { queried, isWide, isOnly: groups.length === 1 });
    const lines = linesOf(answer);
    const source = nodes.length > 1 && lines.length > 0 ? [`  details of ${nodes[0]!}:`] : [];
    return [`${before}${on}${after}`, ...next, ...source, ...lines.map((line) => `  ${line}`)];
  });
}

/** A subject for people: its verdict, and on which nodes; the details once for nodes that agree. */
export function clusterExplanationLines(
  { subject, groups, differingNodes }: ClusterExplanation,
  queried: number,
  isWide: boolean,
): readonly string[] {
  const lines = groupLines(
    groups,
    { queried, isWide },
    (explained) => headOf(subject, explained),
    (explained) =>
      explainedLines(explained, isWide)
        .slice(headOf(subject, explained).length - 1)
        .map((line) => line.replace(/^ {2}/, '')),
  );
  if (differingNodes.length === 0) return lines;
  const verb = differingNodes.length === 1 ? 'has' : 'have';
  return [
    ...lines,
    `${subject}: ${named(differingNodes, isWide)} ${verb} other frontends or endpoints than the other nodes`,
  ];
}

/** The first lines of a node's text: the verdict and the next step. */
function headOf(subject: string, explained: Explained): readonly [string, string, ...string[]] {
  if (!('service' in explained)) return [`${subject}: `, ''];
  const { state, reason, nextStep } = explained.verdict;
  const next = nextStep === undefined ? [] : [`  next: ${nextStep}`];
  return [`${subject}: ${inToneOf(state)} `, `: ${reason}`, ...next];
}

const SERVICE_HEADERS = ['NAMESPACE', 'NAME', 'TYPE', 'ENDPOINTS', 'STATE', 'NODES', 'FRONTENDS', 'REASON'];

/** One line a Service: its worst verdict, and on how many of the nodes that list it. */
export function clusterServicesLines(
  { services, unknownNames }: ClusterServices,
  isWide: boolean,
): readonly string[] {
  if (services.length === 0 && unknownNames.length > 0) return [];
  return columns(
    SERVICE_HEADERS,
    services.map((service) => serviceCells(service, isWide)),
  );
}

function serviceCells(
  { namespace, name, type, frontends, nodeCount, verdicts }: ClusterService,
  isWide: boolean,
): readonly string[] {
  const { state, reason, endpointCounts, nodeCount: count, nodes } = worstOf(verdicts)!;
  const shown = frontends.length === 0 ? ['-'] : isWide ? frontends : frontends.slice(0, 1);
  const more = frontends.length - shown.length;
  const { used, known, ejected } = endpointCounts;
  const on = count < nodeCount && nodes.length > 0 ? ` (on ${named(nodes, isWide)})` : '';
  return [
    namespace,
    name,
    type ?? '-',
    `${used}/${known}${ejectedCountText(ejected)}`,
    inToneOf(state),
    `${count}/${nodeCount}`,
    `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`,
    `${reason}${on}`,
  ];
}

const STATUS_HEADERS = ['NODE', 'STATE', 'VERSION', 'MODE', 'IN SYNC', 'LAG', 'FAILING', 'DRIFT', 'REASON'];

/** One line a node. */
export function clusterStatusLines({ nodes }: ClusterStatus, isWide: boolean): readonly string[] {
  return nodes.length > 0
    ? columns(
        STATUS_HEADERS,
        nodes.map((row) => statusCells(row, isWide)),
      )
    : [];
}

function statusCells(row: NodeRow, isWide: boolean): readonly string[] {
  const [first = '', ...others] = row.reasons;
  const more = others.length > 0 ? ` (and ${others.length} more: -o wide)` : '';
  return [
    row.node,
    inToneOf(row.state, proxyWord(row.state)),
    row.version,
    row.mode,
    ...(row.inSync ? ['yes', '-'] : ['no', `${row.lagSeconds.toFixed(1)} s`]),
    String(row.failingServicePorts),
    String(row.repairSteps),
    isWide ? row.reasons.join('; ') : `${first}${more}`,
  ];
}

function unresponsiveText(count: number): string {
  if (count === 0) return '';
  return inToneOf('silent', `${counted(count, 'endpoint')} ${count === 1 ? 'does' : 'do'} not answer`);
}

const TRAFFIC_HEADERS = ['SERVICE PORT', 'PROTOCOL', 'OPEN', 'NEW/S', 'UNANSWERED', 'NODES', 'STATE'];

/** One line a service port, and whose connections are missing. */
export function clusterTrafficLines({ services, untrackedNodes }: ClusterTraffic): readonly string[] {
  const rows = services.map(({ nodeCount, portName, ...port }) => [
    displayName({ ...port, port: portName }),
    port.protocol,
    String(port.openConnections),
    port.newConnectionsPerSecond.toFixed(1),
    String(port.unansweredConnections),
    String(nodeCount),
    unresponsiveText(port.unresponsiveEndpoints),
  ]);
  return [
    ...(rows.length > 0 ? columns(TRAFFIC_HEADERS, rows) : ['no connections of Services']),
    ...(untrackedNodes.length > 0
      ? [`not tracked: ${named(untrackedNodes)} (through IPVS: set net.ipv4.vs.conntrack to 1)`]
      : []),
  ];
}
