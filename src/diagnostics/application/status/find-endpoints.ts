import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { endpointPlace } from '../../../domain/model/endpoint.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { EndpointMatch } from './service-row.js';

/** Endpoints that are looked at in one turn of the event loop: a few milliseconds. */
const PORTION = 5_000;

/** Use case FindEndpoints: whose endpoints have an address, or a part of one. It looks at all of them, so only for people who ask. */
export class FindEndpoints {
  constructor(private readonly state: Pick<ClusterState, 'serviceKeys' | 'slicesOf'>) {}

  /** Served Services, in no order. @param signal aborted: nobody wants the rest */
  async matching(texts: readonly string[], signal: AbortSignal): Promise<readonly EndpointMatch[]> {
    const matches: EndpointMatch[] = [];
    let looked = 0;
    for (const service of [...this.state.serviceKeys()]) {
      const found = new Set<string>();
      let missing = texts;
      for (const { endpoints } of this.state.slicesOf(service).flatMap(({ ports }) => ports)) {
        looked += endpoints.length + 1;
        if (looked >= PORTION) {
          looked = 0;
          await yieldToEventLoop();
          if (signal.aborted) return matches;
        }
        const places = endpoints.map(endpointPlace);
        for (const text of missing) {
          const match = places.find((place) => place.includes(text));
          if (match === undefined) continue;
          found.add(match);
          missing = missing.filter((other) => other !== text);
        }
        if (missing.length === 0) break;
      }
      if (found.size > 0) matches.push({ service, endpoints: [...found] });
    }
    return matches;
  }
}
