import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  frontendPlace,
  isExternal,
  requestedFrontends,
  type ForwardingEntry,
  type Frontend,
} from '../../../domain/forwarding/forwarding-entry.js';
import type { ForwardingTable } from '../../../domain/forwarding/forwarding-table.js';
import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { LocalhostLookup } from '../../../application/status/port-status.js';
import { hasNoFrontend } from '../../../domain/verdict/judge-port.js';
import type { Verdict } from '../../../domain/verdict/verdict.js';
import type { ServiceStatuses } from '../../../application/status/service-statuses.js';
import type { ServiceVerdicts } from '../../../application/status/service-verdicts.js';
import type { RowFilter, ServiceList, ServiceRow, UnknownName } from './service-row.js';
import { ejectedOf } from '../../../domain/select-endpoints.js';
import { endpointPlace, type Endpoint } from '../../../domain/model/endpoint.js';
import { listedEndpoints, type SlicePort } from '../../../domain/model/endpoint-slice.js';
import { familyPortKey } from '../../../domain/traffic/service-frontends.js';
import type { EndpointAnswers } from '../../../application/traffic/endpoint-answers.js';
import { countEndpoints, type FamilyEndpoints } from '../../domain/endpoint-counts.js';

/** The part of a sync loop that is read. */
export interface ListedLoop {
  readonly family: IpFamily;
  readonly table: ForwardingTable;
  /** What could not be read since the start. */
  readonly unreadObjects: readonly string[];
  isWaiting(service: ServiceKey): boolean;
}

/** Rows that are made in one turn of the event loop: a few milliseconds. */
const PORTION = 250;

/** Use case ListServices: a row for each Service, made in portions so that changes are programmed in between. */
export class ListServices {
  constructor(
    private readonly state: ClusterState,
    private readonly loops: readonly ListedLoop[],
    private readonly statuses: Pick<ServiceStatuses, 'get'>,
    private readonly verdicts: ServiceVerdicts,
    /** Whether all Services have been listed. */
    private readonly isListed: () => boolean,
    private readonly localhost: LocalhostLookup = () => undefined,
    /** Missing: connections are not counted. */
    private readonly answers?: Pick<EndpointAnswers, 'read'>,
  ) {}

  /** The rows, by namespace and name, in portions. Services that come or go meanwhile may be missing. */
  async *rows(filter: RowFilter): AsyncGenerator<readonly ServiceRow[]> {
    await this.answers?.read();
    const chosen = chosenBy(filter);
    // Invalid Services are problems, and not in the state.
    const all = new Set(this.verdicts.problemKeys());
    if (!filter.problems) for (const key of this.state.serviceKeys()) all.add(key);
    const keys = sortedKeys([...all].filter(chosen));
    for (let start = 0; start < keys.length; start += PORTION) {
      await yieldToEventLoop();
      const rows = keys.slice(start, start + PORTION).flatMap((key) => this.row(key) ?? []);
      yield filter.problems ? rows.filter(({ state }) => state !== 'ok') : rows;
    }
  }

  /** The requested names that no row has. Queries the API server about those with a namespace. */
  async notProxied({ namespace, names }: RowFilter): Promise<ServiceList> {
    const services: ServiceRow[] = [];
    const unknown: UnknownName[] = [];
    const listed = names.length > 0 ? [...this.state.serviceKeys(), ...this.verdicts.problemKeys()] : [];
    for (const name of names) {
      const isIt = chosenBy({ names: [name], ...(namespace !== undefined && { namespace }) });
      if (listed.some(isIt)) continue;
      const left = sortedKeys([...this.state.notProxiedKeys()].filter(isIt));
      const full = name.includes('/') ? [name] : namespace === undefined ? [] : [`${namespace}/${name}`];
      const keys = left.length > 0 ? left : full;
      const found = await Promise.all(
        keys.map(async (key) => ({ key, verdict: await this.verdicts.find(key) })),
      );
      const known = found.filter(({ verdict: { cause } }) => cause !== 'NotFound' && cause !== 'Unknown');
      services.push(...known.map(({ key, verdict }) => notProxiedRow(key, verdict)));
      if (known.length === 0) unknown.push({ name, reason: found[0]?.verdict.reason ?? this.namedNowhere() });
    }
    return { services, unknownNames: unknown };
  }

  /** Why there is no Service of a name in any namespace. The API server is not queried: that would cost it a search. */
  private namedNowhere(): string {
    return this.isListed()
      ? 'no proxied Service has this name; use NAMESPACE/NAME to find headless Services and those of other proxies'
      : 'not all Services have been listed yet; `kubeproxy status` shows the progress';
  }

  /** Undefined if the Service is gone by now. */
  row(key: ServiceKey): ServiceRow | undefined {
    const service = this.state.service(key);
    const verdict = this.verdicts.of(key);
    if (!service || !verdict) return verdict && notProxiedRow(key, verdict);
    const { namespace, name, type } = service;
    const ports = service.ports.map((port) => port.name).filter(Boolean);
    const entries = this.loops.flatMap(({ table }) => table.entriesOf(key));
    return {
      namespace,
      name,
      type,
      frontends: [...frontendTexts(entries), ...this.onLocalhost(entries)],
      ...(ports.length > 0 && { portNames: ports }),
      endpointCounts: countEndpoints(this.loops.map((loop) => this.endpoints(loop, key))),
      ...verdict,
    };
  }

  private endpoints({ family, table }: ListedLoop, key: ServiceKey): FamilyEndpoints {
    const entries = table.entriesOf(key);
    const isOfService = ({ name, protocol }: SlicePort): boolean =>
      entries.some((entry) => entry.name.port === name && entry.name.protocol === protocol);
    const slices = this.state.slicesOf(key).filter((slice) => slice.family === family);
    return {
      known: new Set(slices.flatMap(({ ports }) => ports.filter(isOfService).map(listedEndpoints))),
      used: entries.flatMap((entry) =>
        hasNoFrontend(entry, this.statuses.get(family, entry.key)) ? [] : [entry.endpoints.reachable],
      ),
      ejected: entries.map(({ endpoints }) => ejectedOf(endpoints)),
      unresponsive: entries.map((entry) => this.unresponsive(entry)),
    };
  }

  private unresponsive(entry: ForwardingEntry): readonly Endpoint[] {
    const places = this.verdicts.unresponsiveOf(familyPortKey(entry));
    if (!places) return [];
    return [...entry.endpoints.reachable, ...ejectedOf(entry.endpoints)].filter(
      (endpoint) => endpoint.ready && places.has(endpointPlace(endpoint)),
    );
  }

  private onLocalhost(entries: readonly ForwardingEntry[]): readonly string[] {
    return entries.flatMap(({ family, key, name }) => {
      const place = this.localhost(family, key);
      return place === undefined ? [] : `${place}/${name.protocol}`;
    });
  }
}

function chosenBy({
  namespace,
  names,
}: Pick<RowFilter, 'namespace' | 'names'>): (key: ServiceKey) => boolean {
  const plain = new Set(names.filter((name) => !name.includes('/')));
  const full = new Set(names.filter((name) => name.includes('/')));
  const prefix = `${namespace}/`;
  return (key) =>
    full.has(key) ||
    ((namespace === undefined || key.startsWith(prefix)) &&
      (names.length === 0 || plain.has(key.slice(key.indexOf('/') + 1))));
}

/** By namespace, then name. In the keys a `/` is between them, which `-` and `.` come before. */
export function sortedKeys(keys: readonly ServiceKey[]): readonly ServiceKey[] {
  return keys
    .map((key) => key.replace('/', '\0'))
    .sort()
    .map((key) => key.replace('\0', '/'));
}

/** As they are in a row. */
export function frontendTexts(entries: readonly ForwardingEntry[]): readonly string[] {
  const texts = (wanted: (frontend: Frontend) => boolean): readonly string[] =>
    entries.flatMap((entry) =>
      requestedFrontends(entry)
        .filter(wanted)
        .map((frontend) => `${frontendPlace(frontend)}/${entry.name.protocol}`),
    );
  // A node port is one for both families.
  return [...new Set([...texts((one) => !isExternal(one)), ...texts(isExternal)])];
}

function notProxiedRow(key: ServiceKey, verdict: Verdict): ServiceRow {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name, frontends: [], endpointCounts: { used: 0, known: 0 }, ...verdict };
}
