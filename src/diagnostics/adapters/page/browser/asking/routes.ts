import { queryOf } from '../place.js';

/* Where the answers are, relative to the page. */

/** A `ProxyStatus`. */
export const STATUS = 'debug/status';
/** A `ServiceList` of everything. */
export const SERVICE_LIST = 'debug/services';
/** `ServiceCounts`. */
export const SERVICE_COUNTS = 'debug/service-counts';
/** Whether everything delivered is programmed, and how many events were: cheap to ask for. */
export const SYNC = 'debug/sync';

/** `EndpointMatches`, of the services with endpoints at whose `ip:port` these parts occur. */
export function endpointsWith(parts: readonly string[]): string {
  return `debug/endpoints?${new URLSearchParams(parts.map((part) => ['part', part])).toString()}`;
}

/** An `Explanation`. */
export function explanationOf(namespace: string, name: string): string {
  return `debug/explain${queryOf({ subject: `${namespace}/${name}` })}`;
}

/** A `History`, of one Service or of all. */
export function historyOf(service = ''): string {
  return `debug/history${queryOf({ service })}`;
}

/** A line with a `TrafficReport` each second: of one Service, and of it even without traffic. */
export function trafficOf(service: string): string {
  return `debug/traffic${queryOf({ service })}`;
}

/** A `TraceAnswer`. */
export function traceOf(from: string, to: string, kernel: boolean): string {
  return `debug/trace${queryOf({ from, to, kernel: kernel ? 'true' : '' })}`;
}
