import { inToneOf } from '../output/tones.js';
import { bytesText, countingWords } from '../../../application/words/traffic-words.js';
import { displayName } from '../../../../domain/model/service-port-name.js';
import { hostPort } from '../../../../domain/net/address.js';
import type { EndpointReport, PortReport, TrafficNumbers, TrafficReport } from '../../../domain/traffic.js';
import { NO_ENDPOINT, SILENT } from '../../../application/words/state-words.js';
import { counted } from '../../../../application/words/counted.js';
import { columns } from '../output/columns.js';

const HEADERS = ['SERVICE PORT', 'PROTOCOL', 'FAMILY', 'OPEN', 'NEW/S', 'UNANSWERED', 'BYTES/S', 'STATE'];

/**
 * A report as a table: a line for each service port and, below it, its endpoints.
 * @param isWide with endpoints that have no connections, and more columns
 */
export function trafficLines(report: TrafficReport, isWide: boolean): readonly string[] {
  const { services, countsBytes, omitted } = report;
  const shown = (_: string, column: number): boolean =>
    (isWide || HEADERS[column] !== 'FAMILY') && (countsBytes || HEADERS[column] !== 'BYTES/S');
  const cells = (name: string, protocol: string, family: string, numbers: TrafficNumbers, state: string) => [
    name,
    protocol,
    family,
    String(numbers.open),
    String(numbers.newPerSecond),
    String(numbers.unanswered),
    bytesText(numbers.bytesPerSecond ?? 0),
    state,
  ];
  const rows = services.flatMap((port) => [
    cells(displayName(port), port.protocol, port.family, port, portState(port)),
    ...port.endpoints
      .filter((endpoint) => isWide || hasTraffic(endpoint))
      .map((endpoint) =>
        cells(`  ${hostPort(endpoint.address, endpoint.port)}`, '', '', endpoint, endpointState(endpoint)),
      ),
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
  const { time, seconds, tracked } = report;
  const at = time.replace(/\.\d+Z$/, 'Z');
  return [
    `${at}  ${seconds.toFixed(1)} s  ${counted(tracked, 'tracked connection')}, of Services or not`,
    ...countingWords(report),
  ];
}

function hasTraffic({ open, new: begun, unanswered, bytes = 0, silent }: EndpointReport): boolean {
  return silent || open + begun + unanswered + bytes > 0;
}

function portState({ silentEndpoints, endpoints }: PortReport): string {
  if (endpoints.every(({ state }) => state === 'unused')) return inToneOf(NO_ENDPOINT);
  if (silentEndpoints === 0) return '';
  const verb = endpoints.length === 1 ? 'does' : 'do';
  return inToneOf(
    'silent',
    `${silentEndpoints} of ${counted(endpoints.length, 'endpoint')} ${verb} not answer`,
  );
}

function endpointState({ silent, state }: EndpointReport): string {
  return silent ? inToneOf('silent', SILENT) : inToneOf(state);
}
