/** The command `top`: the connections of Services on this node, as a live screen or as reports. */

import { ExitCode, exitCodeOf } from '../../../../adapters/cli/exit-code.js';
import type { Invocation, RequestOf } from '../options.js';
import { Option } from 'commander';
import { counted, parseDuration } from '../../../../application/words.js';
import {
  TRAFFIC_ORDERS,
  type TrafficOrder,
  trafficAnswer,
  type PortReport,
  type TrafficReport,
  type EndpointReport,
  type TrafficNumbers,
} from '../../../domain/traffic.js';
import {
  durationBetween,
  namespaceOptions,
  serviceNames,
  outputOptions,
  subcommand,
  type OutputOptions,
  type ServiceName,
} from '../options.js';
import { serviceKey, displayName } from '../../../../domain/model/service-port-name.js';
import { findServices, reportUnknown } from '../find-services.js';
import type { AboutUnknown, UnknownName } from '../../../application/status/service-row.js';
import { RunningProxy } from '../running-proxy.js';
import { formatted, jsonLine, print, inToneOf, columns, cutLine, written } from '../output.js';
import { untilUserEnds } from '../watch.js';
import { bytesText, countingWords } from '../../../application/words.js';
import { endpointName } from '../../../../domain/model/endpoint.js';
import { NO_ENDPOINT, UNRESPONSIVE } from '../../../application/words.js';
import type { ReadStream, WriteStream } from 'node:tty';

interface TopOptions extends OutputOptions {
  readonly namespace?: string;
  readonly sort: TrafficOrder;
  readonly interval: string;
}

/** Which traffic to show, and how. */
export const topCommand = subcommand({
  name: 'top',
  description:
    'Show the connections of Services and endpoints on this node, live, or with --once one interval.',
  summary: 'Show the connections of Services and endpoints, live.',
  usage: '[NAME...] [flags]',
  options: [
    ...namespaceOptions,
    new Option('--sort <order>', 'The sort order.').choices(TRAFFIC_ORDERS).default('open'),
    new Option('--interval <duration>', 'The time between two reports, from 100ms to 1m.')
      .default('1s')
      .argParser(durationBetween('100ms', '1m')),
    ...outputOptions,
  ],
  request(operands, { namespace, sort, interval, output }: TopOptions) {
    return {
      query: { namespace, services: serviceNames('top', operands), sort },
      intervalMilliseconds: parseDuration(interval)!,
      output,
    };
  },
});

/** A report comes as late as this after its interval. Milliseconds. */
const LATEST = 10_000;

/** Counting a million connections takes a minute. Milliseconds. */
const COUNTING = 300_000;

/**
 * Shows the connections of Services, as the proxy running on this node counts them, until the user ends it; with --once those
 * of one interval. 1 when an endpoint does not answer, or no known Service has one of the names.
 * @throws QueryError when no report comes when one is due
 */
export async function top({ request, configuration, once }: Invocation<typeof topCommand>): Promise<number> {
  const proxy = RunningProxy.at(configuration.metricsBindAddress);
  const { query, intervalMilliseconds, output } = request;
  const isLive = !once && process.stdout.isTTY && (output === 'text' || output === 'wide');
  const screen = isLive ? new Screen(process.stdin, process.stdout) : undefined;
  let last: (TrafficReport & AboutUnknown) | undefined;
  await untilUserEnds(async (ending) => {
    screen?.open(() => ending.abort());
    try {
      const path = pathOf(request, once, screen?.rows);
      const silence = intervalMilliseconds + (once ? COUNTING : LATEST);
      for await (const all of proxy.follow(path, trafficAnswer, silence, ending.signal)) {
        const report = { ...all, services: all.services.filter((port) => isAskedFor(port, query)) };
        const unknownNames = once ? await unknownIn(proxy, query, report.services) : [];
        last = { ...report, ...(unknownNames.length > 0 && { unknownNames }) };
        if (screen) screen.show(formatted(output, last, trafficLines));
        else await print(printed(last, request, once));
      }
    } finally {
      screen?.close();
    }
  });
  if (!last) return ExitCode.ok;
  const unknown = once ? last.unknownNames : await unknownIn(proxy, query, last.services);
  return exitCodeOf(reportUnknown(unknown) || hasUnresponsive(last));
}

function pathOf(
  { query, intervalMilliseconds }: RequestOf<typeof topCommand>,
  once: boolean,
  limit?: number,
): string {
  const parameters = new URLSearchParams({
    interval: String(intervalMilliseconds / 1_000),
    sort: query.sort,
    ...(query.namespace !== undefined && { namespace: query.namespace }),
    ...(once && { once: 'true' }),
  });
  for (const { service } of query.services) parameters.append('service', service);
  if (limit !== undefined) parameters.set('limit', String(limit));
  return `/debug/traffic?${parameters}`;
}

function isAskedFor(
  { namespace, name, portName }: PortReport,
  { services }: RequestOf<typeof topCommand>['query'],
): boolean {
  const isIt = ({ service, port = portName }: ServiceName): boolean =>
    port === portName && (service === name || service === serviceKey(namespace, name));
  return services.length === 0 || services.some(isIt);
}

/** The names that no known Service has. Looks them up if there are any, or a namespace without traffic. */
async function unknownIn(
  proxy: RunningProxy,
  { namespace, services }: RequestOf<typeof topCommand>['query'],
  ports: readonly PortReport[],
): Promise<readonly UnknownName[]> {
  if (services.length === 0 && ports.length > 0) return [];
  const found = await findServices(proxy, services, namespace);
  const reported = ports.map(({ namespace: its, name, portName }) => ({
    service: serviceKey(its, name),
    port: portName,
  }));
  return found.unknownBut(reported);
}

/** Whether an endpoint does not answer, by a report of this node or of all. */
export function hasUnresponsive({
  services,
}: {
  readonly services: readonly Pick<PortReport, 'unresponsiveEndpoints'>[];
}): boolean {
  return services.some(({ unresponsiveEndpoints }) => unresponsiveEndpoints > 0);
}

/** One after the other, JSON is one object a line, so that a program can read each as it comes. */
function printed(report: TrafficReport, { output }: RequestOf<typeof topCommand>, once: boolean): string {
  if (!once && output === 'json') return jsonLine(report);
  const text = formatted(output, report, trafficLines);
  return once ? text : output === 'yaml' ? `---\n${text}` : `${text}\n`;
}

const HEADERS = ['SERVICE PORT', 'PROTOCOL', 'FAMILY', 'OPEN', 'NEW/S', 'UNANSWERED', 'BYTES/S', 'STATE'];

/**
 * A report as a table: a line for each service port and, below it, its endpoints.
 * @param isWide with endpoints that have no connections, and more columns
 */
export function trafficLines(report: TrafficReport, isWide: boolean): readonly string[] {
  const { services, bytesCounted, omitted } = report;
  const shown = (_: string, column: number): boolean =>
    (isWide || HEADERS[column] !== 'FAMILY') && (bytesCounted || HEADERS[column] !== 'BYTES/S');
  const cells = (name: string, protocol: string, family: string, numbers: TrafficNumbers, state: string) => [
    name,
    protocol,
    family,
    String(numbers.openConnections),
    String(numbers.newConnectionsPerSecond),
    String(numbers.unansweredConnections),
    bytesText(numbers.bytesPerSecond ?? 0),
    state,
  ];
  const rows = services.flatMap((port) => [
    cells(displayName({ ...port, port: port.portName }), port.protocol, port.family, port, portState(port)),
    ...port.endpoints
      .filter((endpoint) => isWide || hasTraffic(endpoint))
      .map((endpoint) => cells(`  ${endpointName(endpoint)}`, '', '', endpoint, endpointState(endpoint))),
  ]);
  return [
    ...headLines(report),
    ...(services.length > 0
      ? columns(
          HEADERS.filter(shown),
          rows.map((row) => row.filter(shown)),
        )
      : ['no connections of Services']),
    ...(omitted > 0 ? [`and ${counted(omitted, 'more service port')}`] : []),
  ];
}

/** When and how it was counted, and what is wrong with it. */
function headLines(report: TrafficReport): readonly string[] {
  const { time, durationSeconds, trackedConnections } = report;
  const at = time.replace(/\.\d+Z$/, 'Z');
  return [
    `${at}  ${durationSeconds.toFixed(1)} s  ${counted(trackedConnections, 'tracked connection')}, of Services or not`,
    ...countingWords(report),
  ];
}

function hasTraffic({
  openConnections,
  newConnections: begun,
  unansweredConnections,
  bytes = 0,
  unresponsive,
}: EndpointReport): boolean {
  return unresponsive || openConnections + begun + unansweredConnections + bytes > 0;
}

function portState({ unresponsiveEndpoints, endpoints }: PortReport): string {
  if (endpoints.every(({ state }) => state === 'unused')) return inToneOf(NO_ENDPOINT);
  if (unresponsiveEndpoints === 0) return '';
  const ready = endpoints.filter(({ state }) => state === 'ready' || state === 'ejected').length;
  const verb = unresponsiveEndpoints === 1 ? 'does' : 'do';
  return inToneOf(
    'silent',
    `${unresponsiveEndpoints} of ${counted(ready, 'ready endpoint')} ${verb} not answer`,
  );
}

function endpointState({ unresponsive, state, shareRatio }: EndpointReport): string {
  if (unresponsive && state !== 'ejected') return inToneOf('silent', UNRESPONSIVE);
  return shareRatio === undefined
    ? inToneOf(state)
    : `${inToneOf(state)}, gets ${(100 * shareRatio).toFixed(1)} %`;
}

const OTHER_SCREEN = '\x1b[?1049h\x1b[?25l';
const FORMER_SCREEN = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const TO_END_OF_LINE = '\x1b[K';
const TO_END = '\x1b[J';
/** Ctrl-C, and what a terminal sends for it while it passes on every key. */
const END_KEYS = ['q', 'Q', '\x03'];
const USUAL_ROWS = 24;

/** A terminal that shows one text at a time, and a user who ends that by `q` or Ctrl-C. Leaves the terminal as it was. */
export class Screen {
  private onKey: ((keys: string) => void) | undefined;

  constructor(
    private readonly keyboard: ReadStream,
    private readonly terminal: WriteStream,
  ) {}

  get rows(): number {
    return this.terminal.rows || USUAL_ROWS;
  }

  open(onEnd: () => void): void {
    this.terminal.write(OTHER_SCREEN);
    if (!this.keyboard.isTTY) return;
    this.onKey = (keys) => {
      if (END_KEYS.some((key) => keys.includes(key))) onEnd();
    };
    this.keyboard.setRawMode(true);
    this.keyboard.setEncoding('utf8').on('data', this.onKey).resume();
  }

  /** Lines that do not fit are left out, as are the ends of long ones. */
  show(text: string): void {
    const { columns } = this.terminal;
    const lines = text.trimEnd().split('\n');
    const fitting = lines.length > this.rows ? [...lines.slice(0, this.rows - 1), '…'] : lines;
    const shown = fitting.map((line) => written(cutLine(line, columns)) + TO_END_OF_LINE);
    this.terminal.write(HOME + shown.join('\r\n') + TO_END);
  }

  /** Idempotent. */
  close(): void {
    this.terminal.write(FORMER_SCREEN);
    if (!this.onKey) return;
    this.keyboard.off('data', this.onKey).pause();
    this.keyboard.setRawMode(false);
    this.onKey = undefined;
  }
}
