import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { endpointPlace } from '../../domain/model/endpoint.js';
import type { EndpointSlice } from '../../domain/model/endpoint-slice.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
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
      const places = this.state.slicesOf(service).flatMap(placesOf);
      looked += places.length + 1;
      const found = texts.flatMap((text) => places.find((place) => place.includes(text)) ?? []);
      if (found.length > 0) matches.push({ service, endpoints: [...new Set(found)] });
      if (looked < PORTION) continue;
      looked = 0;
      await yieldToEventLoop();
      if (signal.aborted) break;
    }
    return matches;
  }
}

function placesOf({ ports }: EndpointSlice): readonly string[] {
  return ports.flatMap(({ endpoints }) => endpoints.map(endpointPlace));
}
