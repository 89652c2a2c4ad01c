import type { PortStatus } from '../../../application/status/port-status.js';
import type { ProxyStatus } from '../status/proxy-status.js';
import type { RowState, ServiceRow } from '../status/service-row.js';
import { counted } from '../../../application/words/counted.js';

/* What states are called, on terminals and on the page alike. Nothing here needs more than the values. */

/** Another version may have other states. */
function stateWord(state: RowState | PortStatus['state'] | ProxyStatus['state']): string {
  return state.replace('-', ' ');
}

/** How a proxy is. */
export function proxyWord(state: ProxyStatus['state']): string {
  return stateWord(state);
}

/** Of a Service without an endpoint that is used. */
export const NO_ENDPOINT = 'no endpoint';

/** Of an endpoint that is ready and silent. */
export const SILENT = 'does not answer';

/** What a Service in a list is, in a word or two. */
export function rowWord(row: ServiceRow): string {
  return lacksEndpoints(row) ? NO_ENDPOINT : troubleWord(row);
}

/** The same, without a look at endpoints: of those that are degraded, others hold frontends of some. */
export function troubleWord({ state, held = 0 }: Pick<ServiceRow, 'state' | 'held'>): string {
  return state === 'degraded' && held > 0 ? 'held' : stateWord(state);
}

/** Clients of it are refused or lost, although it is programmed as asked for. */
export function lacksEndpoints({ state, endpoints }: ServiceRow): boolean {
  return state === 'programmed' && endpoints.used === 0;
}

/** Whether something is wrong with it that the proxy cannot mend alone. */
export function isFailing({ state }: Pick<ServiceRow, 'state'>): boolean {
  return state === 'failed' || state === 'degraded';
}

/** The status of a service port in a line. @param time how a time is written */
export function portStatusText(status: PortStatus, time: (at: string) => string = String): string {
  switch (status.state) {
    case 'pending':
      return stateWord(status.state);
    case 'programmed':
      return `${stateWord(status.state)} ${time(status.since)}`;
    case 'degraded':
      return `${stateWord(status.state)} since ${time(status.since)}: ${status.reason}`;
    case 'failed':
      return `${stateWord(status.state)} since ${time(status.since)}, ${counted(status.attempts, 'attempt')}: ${status.reason}`;
  }
}
