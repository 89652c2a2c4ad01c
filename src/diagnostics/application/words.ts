import type { FamilyStatus, WatchStatus, ProxyStatus } from './status/proxy-status.js';
import { counted, compactTexts } from '../../application/words.js';
import { isNodeProblem, type PortStatus } from '../../application/status/port-status.js';
import type { ChangeEntry, ListChange } from '../../application/status/change-entry.js';
import type { EndpointExplanation, FrontendExplanation } from './explain/explanation.js';
import type { HealthCheckState } from '../../application/health/service-health-checks.js';
import type { CountingFacts } from '../../domain/traffic/sample.js';

type Counting = (count: number, noun: string) => string;

/**
 * How a family is: on terminals and on the page alike.
 * @param time how a time is written
 * @param count how things are counted
 */
export function familyWords(
  { inSync, programmed, failed, degraded, sync: { lastSuccess, drift } }: FamilyStatus,
  time: (at: string) => string = String,
  count: Counting = counted,
): string {
  // As the metrics count: the node is not the cause if the mode does not support a service port.
  const failing = failed.filter((port) => isNodeProblem('failed', port)).length;
  const limited = degraded.length + failed.length - failing;
  return compactTexts(
    inSync ? 'in sync' : 'not in sync',
    `${count(programmed, 'service port')} programmed`,
    failing > 0 && `${failing} failing`,
    limited > 0 && `${limited} degraded`,
    lastSuccess
      ? `last sync ${time(lastSuccess.time)} in ${Math.round(lastSuccess.durationSeconds * 1000)} ms`
      : 'no sync yet',
    drift.lastTime !== undefined &&
      `${count(drift.repairs, 'repair')} after another program, the last ${time(drift.lastTime)}`,
  ).join(', ');
}

/** How a watch is. */
export function watchWords(
  { state, connected, objectCount, idleSeconds, failure }: WatchStatus,
  count: Counting = counted,
): string {
  return compactTexts(
    connected ? 'connected' : state.replace('-', ' '),
    count(objectCount, 'object'),
    idleSeconds !== undefined && `last data ${Math.round(idleSeconds)} s ago`,
    failure,
  ).join(', ');
}

/* What states are called, on terminals and on the page alike. Nothing here needs more than the values. */

/** Another version may have other states. */
function stateWord(state: PortStatus['state'] | ProxyStatus['state']): string {
  return state.replace('-', ' ');
}

/** How a proxy is. */
export function proxyWord(state: ProxyStatus['state']): string {
  return stateWord(state);
}

/** Of a Service without an endpoint that is used. */
export const NO_ENDPOINT = 'no endpoint';

/** Of an endpoint that is ready and unresponsive. */
export const UNRESPONSIVE = 'does not answer';

/** The status of a service port in a line. @param time how a time is written */
export function portStatusText(status: PortStatus, time: (at: string) => string = String): string {
  switch (status.state) {
    case 'pending':
      return stateWord(status.state);
    case 'programmed':
      return `${stateWord(status.state)} ${time(status.sinceTime)}`;
    case 'degraded':
      return `${stateWord(status.state)} since ${time(status.sinceTime)}: ${status.reason}`;
    case 'failed':
      return `${stateWord(status.state)} since ${time(status.sinceTime)}, ${counted(status.attempts, 'attempt')}: ${status.reason}`;
  }
}

/** What came of a change: on terminals and on the page alike. */
export function resultWords(entry: ChangeEntry): string {
  return entry.kind === 'service-port' ? entry.result : FAMILY_RESULTS[entry.kind];
}

const FAMILY_RESULTS = {
  'everything-programmed': 'everything programmed',
  'sync-failed': 'sync failed',
  repaired: 'repaired after another program',
} as const;

/** Why it failed or is degraded, and how the lists of a service port changed; may be empty. */
export function changeWords(entry: ChangeEntry): string {
  const { kind, reason } = entry;
  if (kind !== 'service-port') return reason ?? '';
  const { endpointChange, ejectedChange, frontendChange, result } = entry;
  const parts = compactTexts(
    reason,
    listWords('endpoints', endpointChange),
    ejectedChange && listWords('ejected endpoints', ejectedChange),
    listWords('frontends', frontendChange),
  );
  if (parts.length > 0) return parts.join('; ');
  return result === 'programmed' ? `${counted(endpointChange.count, 'endpoint')} as before` : '';
}

function listWords(name: string, { count, added, removed, changed, examples }: ListChange): string {
  const more = added + removed + changed - examples.length;
  if (examples.length === 0) return '';
  const numbers = added + removed > 0 ? ` ${count - added + removed} → ${count}` : '';
  return `${name}${numbers}: ${examples.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `pod cart-7f9 on node-2, zone a: ready, used, 3 connections without an answer`: on terminals and on the page alike. */
export function endpointWords(endpoint: EndpointExplanation): string {
  const place = placeWords(endpoint);
  const state = conditionWords(endpoint);
  return place === '' ? state : `${place}: ${state}`;
}

/** The same without its place: `ready, used, 3 connections without an answer`. */
export function conditionWords(endpoint: EndpointExplanation): string {
  const { used, reason, ready, serving, terminating, zoneHints, nodeHints, weight, share } = endpoint;
  const { unresponsive, unansweredConnections = 0, openConnections, terminatingSinceTime } = endpoint;
  const since = terminatingSinceTime === undefined ? '' : ` since ${terminatingSinceTime}`;
  const isSafe = terminatingSinceTime !== undefined && !used && openConnections === 0;
  return compactTexts(
    ready ? 'ready' : 'not ready',
    terminating && `terminating${since}${serving ? ', still serving' : ''}`,
    used ? 'used' : reason === undefined ? 'not used' : `not used (${reason})`,
    share &&
      `gets ${share.slots} of ${share.totalSlots} (${((100 * share.slots) / share.totalSlots).toFixed(2)} %)`,
    openConnections !== undefined && counted(openConnections, 'open connection'),
    isSafe && 'safe to stop as seen from this node',
    weight !== undefined && `weight ${weight}`,
    zoneHints.length > 0 && `for zones ${zoneHints.join(' ')}`,
    nodeHints.length > 0 && `for nodes ${nodeHints.join(' ')}`,
    unresponsive && UNRESPONSIVE,
    unansweredConnections > 0 && `${counted(unansweredConnections, 'connection')} without an answer`,
  ).join(', ');
}

/** The pod of an endpoint, and where it runs; empty if nothing is known. */
function placeWords({ pod, nodeName, local, zone }: EndpointExplanation): string {
  const node =
    nodeName === undefined ? local && 'on this node' : `on ${nodeName}${local ? ' (this node)' : ''}`;
  return compactTexts(
    compactTexts(pod !== undefined && `pod ${pod}`, node).join(' '),
    zone !== undefined && `zone ${zone}`,
  ).join(', ');
}

/**
 * The verdict for packets to a frontend with the reason: on terminals and on the page alike.
 * @param tone how such a text is shown
 */
export function outcomeWords(
  { outcome, reason }: Pick<FrontendExplanation, 'outcome' | 'reason'>,
  tone: (outcome: string, text: string) => string = (_, text) => text,
): string {
  return outcome === 'conflict' ? tone(outcome, reason) : `${tone(outcome, outcome)}, ${reason}`;
}

/** Whether the health check of a Service answers, and what: on terminals and on the page alike. */
export function healthCheckWords({ port, localEndpoints, listening, problem }: HealthCheckState): string {
  const state = listening ? 'listening' : `not listening${problem === undefined ? '' : `: ${problem}`}`;
  return `health check on port ${port}: ${state}; endpoints on the node: ${localEndpoints}`;
}

/** `http TCP`, as terminals and the page name a port of a Service; it may have no name, or its protocol be unknown. */
export function portWords({
  portName,
  protocol,
}: {
  readonly portName: string;
  readonly protocol: string;
}): string {
  return `${portName || '(unnamed)'} ${protocol}`.trimEnd();
}

/** The change of the source of traced packets: on terminals and on the page alike. */
export const SOURCE_WORDS = {
  always: 'rewritten to an address of this node',
  never: 'kept',
  mixed: 'rewritten for some endpoints, or depending on the routes of the node',
} as const;

/** From where load-balancer IPs take packets. All others are dropped. */
export function acceptedSourcesText(sourceRanges: readonly string[]): string {
  return `load-balancer IPs accept only ${sourceRanges.join(', ')}`;
}

/** Which connections cannot be seen, and what to do; how the others were counted, unless all were. On terminals and on the page. */
export function countingWords(facts: CountingFacts): readonly string[] {
  const { servicesTracked, bridgedHidden, complete, readRatio, samplingRate, eventLosses } = facts;
  return compactTexts(
    !servicesTracked &&
      'connections through IPVS are not tracked, so none is shown: set net.ipv4.vs.conntrack to 1',
    bridgedHidden &&
      'connections of pods to a dead endpoint on their own bridge are not seen, since net.bridge.bridge-nf-call-iptables is 1: kubeproxy explain NAMESPACE/NAME --probe tries them',
    !complete && `not complete yet: ${Math.floor(100 * readRatio)}% of the connections have been read`,
    samplingRate > 1 && `one in ${samplingRate} connections is counted, and the numbers multiplied`,
    eventLosses > 0 &&
      `events were lost ${eventLosses === 1 ? 'once' : `${eventLosses} times`}: some new connections are missing; open ones are read again`,
  );
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** With one digit after the point: `1.5 KiB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return `${power === 0 ? Math.round(bytes) : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}
