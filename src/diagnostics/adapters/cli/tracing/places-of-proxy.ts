import { serviceExplanation } from '../../../application/explain/explanation.js';
import type { ClusterPlace } from '../../../application/trace/named-destination.js';
import { findServices } from '../asking/find-services.js';
import type { RunningProxy } from '../asking/running-proxy.js';
import type { PlacesOf } from './tracing.js';

/** Those that the proxy running on this node serves. */
export function placesOfProxy(proxy: RunningProxy): PlacesOf {
  return async ({ service }) => {
    const places: ClusterPlace[] = [];
    const { keys } = await findServices(proxy, [{ service }]);
    for (const key of keys) {
      const { families } = await proxy.ask(
        `/debug/explain?${new URLSearchParams({ subject: key }).toString()}`,
        serviceExplanation,
      );
      for (const { family, ports } of families)
        for (const { port, protocol, frontends } of ports)
          for (const { kind, address, port: number } of frontends)
            if (kind === 'cluster-ip' && address !== undefined)
              places.push({ service: key, port, number, protocol, family, address });
    }
    return places;
  };
}
