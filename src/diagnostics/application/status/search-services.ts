import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ForwardingTable } from '../../../domain/forwarding/forwarding-table.js';
import { endpointPlace } from '../../../domain/model/endpoint.js';
import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { ServiceVerdicts } from '../../../application/status/service-verdicts.js';
import { frontendTexts, sortedKeys, type ListServices } from './list-services.js';
import type { FoundService, ServiceMatches, ServiceSearch } from './service-row.js';

/** Services and endpoints that are looked at in one turn of the event loop: a few milliseconds. */
const SEARCHED_AT_A_TIME = 2_000;

/** As in `kubectl get`: these name a Service, too. */
const KIND = /^(?:svc|services?)\//;

/** A part of an endpoint's `ip:port` for which all endpoints are looked at. */
const ENDPOINT_PART = /^(?=.*[.:])[[\]\da-f.:]{4,}$/;

/** How well a Service matches, the best first. Each is in three classes, by the state of the Service. */
const RANKS = ['exact', 'beginning', 'name', 'other'] as const;
const STATES = ['error', 'warning', 'ok'] as const;

interface Match {
  readonly rank: (typeof RANKS)[number];
  readonly endpoints?: readonly string[];
}

/** Use case SearchServices: finds Services for people. Looks at all Services, and makes the rows of the first ones only. Changes nothing. */
export class SearchServices {
  constructor(
    private readonly state: Pick<ClusterState, 'serviceKeys' | 'service' | 'slicesOf'>,
    private readonly loops: readonly { readonly table: Pick<ForwardingTable, 'entriesOf'> }[],
    private readonly list: Pick<ListServices, 'row'>,
    private readonly verdicts: Pick<ServiceVerdicts, 'problemKeys' | 'stateOf'>,
  ) {}

  /** Services that come or go meanwhile may be missing. @param signal aborted: the rest is not needed */
  async search({ text, problems, limit }: ServiceSearch, signal: AbortSignal): Promise<ServiceMatches> {
    const words = text
      .toLowerCase()
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => word.replace(KIND, ''));
    const withProblems = [...this.verdicts.problemKeys()];
    const keys = problems ? withProblems : new Set([...withProblems, ...this.state.serviceKeys()]);
    const classes = new Map<string, ServiceKey[]>();
    const endpoints = new Map<ServiceKey, readonly string[]>();
    let [total, looked] = [0, 0];
    for (const key of keys) {
      const { match, cost } = this.match(key, words);
      looked += cost;
      if (match) {
        total++;
        const name = `${match.rank} ${this.verdicts.stateOf(key)}`;
        const its = classes.get(name);
        if (its) its.push(key);
        else classes.set(name, [key]);
        if (match.endpoints) endpoints.set(key, match.endpoints);
      }
      if (looked < SEARCHED_AT_A_TIME) continue;
      looked = 0;
      await yieldToEventLoop();
      if (signal.aborted) break;
    }
    const rows = this.rows(classes, endpoints, limit);
    return { services: problems ? rows.filter(({ state }) => state !== 'ok') : rows, total };
  }

  /** Sorts no more than it must. */
  private rows(
    classes: ReadonlyMap<string, readonly ServiceKey[]>,
    endpoints: ReadonlyMap<ServiceKey, readonly string[]>,
    limit: number,
  ): readonly FoundService[] {
    const rows: FoundService[] = [];
    for (const rank of RANKS)
      for (const state of STATES)
        for (const key of sortedKeys(classes.get(`${rank} ${state}`) ?? [])) {
          if (rows.length >= limit) return rows;
          const row = this.list.row(key);
          const foundEndpoints = endpoints.get(key);
          if (row) rows.push({ ...row, ...(foundEndpoints && { foundEndpoints }) });
        }
    return rows;
  }

  /** Undefined if a word does not occur. */
  private match(
    key: ServiceKey,
    words: readonly string[],
  ): { readonly match: Match | undefined; readonly cost: number } {
    const rank = rankOfName(key, words);
    if (rank) return { match: { rank }, cost: 1 };
    const ports = (this.state.service(key)?.ports ?? []).map((port) => `${key}:${port.name}`);
    const entries = this.loops.flatMap(({ table }) => table.entriesOf(key));
    const texts = [key, ...ports, this.state.service(key)?.type ?? '', ...frontendTexts(entries)].map(
      (text) => text.toLowerCase(),
    );
    const missing = words.filter((word) => !texts.some((text) => text.includes(word)));
    if (missing.length === 0) {
      const isExact = words.every((word) => texts.some((text) => isWhole(text, word)));
      return { match: { rank: isExact ? 'exact' : 'other' }, cost: 1 };
    }
    if (!missing.every((word) => ENDPOINT_PART.test(word))) return { match: undefined, cost: 1 };
    const places = this.state
      .slicesOf(key)
      .flatMap((slice) => slice.ports.flatMap((port) => port.endpoints.map(endpointPlace)));
    const found = missing.map((word) => places.find((place) => place.includes(word)));
    const isFound = (place: string | undefined): place is string => place !== undefined;
    if (!found.every(isFound)) return { match: undefined, cost: 1 + places.length };
    const isExact = missing.every((word) => places.some((place) => isWhole(place, word)));
    return {
      match: { rank: isExact ? 'exact' : 'other', endpoints: [...new Set(found)] },
      cost: 1 + places.length,
    };
  }
}

/** `web` and `shop/web` name `shop/web`. Undefined if a word does not occur in the name. */
function rankOfName(key: ServiceKey, words: readonly string[]): Match['rank'] | undefined {
  const name = key.slice(key.indexOf('/') + 1);
  if (words.length === 0) return 'other';
  if (!words.every((word) => key.includes(word))) return undefined;
  if (words.every((word) => word === name || word === key)) return 'exact';
  return words.some((word) => name.startsWith(word) || key.startsWith(word)) ? 'beginning' : 'name';
}

/** Whether a word is all of a text, but for its port or protocol: `10.96.0.1` of `10.96.0.1:80/tcp`, `shop/web:http`. */
function isWhole(text: string, word: string): boolean {
  return text === word || (text.startsWith(word) && /^[:/]/.test(text.slice(word.length)));
}
