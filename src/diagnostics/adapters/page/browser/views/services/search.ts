import { isFailing, rowWord } from '../../../../../application/words.js';
import type { EndpointMatch, ServiceRow } from '../../../../../application/status/service-row.js';
import type { Show } from '../../place.js';

/** Which services are looked for. */
export interface Wanted {
  readonly search: string;
  readonly show: Show;
  /** Any, if missing or empty. */
  readonly namespace?: string;
}

/** A row, with the endpoints for which it was found, if it was for such. */
export interface FoundService extends ServiceRow {
  readonly found?: string;
}

/** A part of an endpoint's `ip:port` that is worth asking the proxy for. */
const PART_OF_ENDPOINT = /^(?=.*[.:])[[\]\da-f.:]{4,}$/;

/** The words of a search that may be parts of endpoints' addresses, which no row has. */
export function partsOfEndpoints(search: string): readonly string[] {
  return wordsOf(search).filter((word) => PART_OF_ENDPOINT.test(word));
}

/** The namespaces of services, sorted. */
export function namespacesOf(rows: readonly ServiceRow[]): readonly string[] {
  return [...new Set(rows.map(({ namespace }) => namespace))].sort();
}

/** The services of one answer, made ready to be searched at each letter that is typed. */
export class Search {
  private readonly texts: readonly string[];

  constructor(private readonly rows: readonly ServiceRow[]) {
    this.texts = rows.map((row) => {
      const { namespace, name, type = '', frontends, ports = [], state, reason = '' } = row;
      const service = `${namespace}/${name}`;
      const named = ports.map((port) => `${service}:${port}`);
      return [service, ...named, type, state, rowWord(row), reason, ...frontends].join(' ').toLowerCase();
    });
  }

  /**
   * The rows, in order, in which every word of the search occurs: in the name, a port's name, the type, the state and its reason, or
   * an address. @param matches what the proxy says of the endpoints
   */
  matching(wanted: Wanted, matches: readonly EndpointMatch[] = []): readonly FoundService[] {
    const words = wordsOf(wanted.search);
    if (words.length === 0 && wanted.show === 'all' && !wanted.namespace) return this.rows;
    const endpoints = new Map(matches.map((match) => [match.service, match.endpoints.join('  ')]));
    return this.rows.flatMap((row, place) => {
      if (!isShown(row, wanted)) return [];
      const missing = words.filter((word) => !this.texts[place]!.includes(word));
      if (missing.length === 0) return [row];
      const found = endpoints.get(`${row.namespace}/${row.name}`);
      return found !== undefined && missing.every((word) => found.includes(word)) ? [{ ...row, found }] : [];
    });
  }
}

function wordsOf(search: string): readonly string[] {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}

function isShown(row: ServiceRow, { show, namespace }: Wanted): boolean {
  if (namespace && row.namespace !== namespace) return false;
  switch (show) {
    case 'all':
      return true;
    case 'failing':
      return isFailing(row);
    case 'without-endpoints':
      return row.endpoints.used === 0;
    case 'held':
      return (row.held ?? 0) > 0;
    case 'aside':
      return (row.endpoints.aside ?? 0) > 0;
  }
}
