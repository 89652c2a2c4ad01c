import type { ApiObject } from '../../support/api-server/object-store.js';
import { serviceObjects, type TestService } from '../../support/testbed/cluster-objects.js';

/** One step of a cluster that never rests. */
export interface ClusterChange {
  readonly put: readonly ApiObject[];
  readonly remove: readonly { readonly kind: 'Service' | 'EndpointSlice'; readonly name: string }[];
}

/** Numbers that look random and are the same for the same seed (an xorshift generator of 32 bits). */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Services that come, change and go, a bounded number of them. */
export class Churn {
  private readonly services = new Map<number, TestService>();

  constructor(
    private readonly random: (below: number) => number,
    private readonly most = 300,
  ) {}

  /** What happens next, to some services. */
  next(): ClusterChange {
    const put: ApiObject[] = [];
    const remove: { kind: 'Service' | 'EndpointSlice'; name: string }[] = [];
    for (let count = 1 + this.random(8); count > 0; count--) {
      const number = this.random(this.most);
      const former = this.services.get(number);
      if (former && this.random(4) === 0) {
        this.services.delete(number);
        remove.push(
          { kind: 'Service', name: former.name },
          { kind: 'EndpointSlice', name: `${former.name}-a` },
        );
        continue;
      }
      if (remove.some(({ name }) => name === `soak-${number}`)) continue;
      const service = this.service(number);
      this.services.set(number, service);
      const [object, slice] = serviceObjects(service);
      put.push(...(former && this.random(2) === 0 ? [slice] : [object, slice]));
    }
    return { put, remove };
  }

  private service(number: number): TestService {
    const endpoints = Array.from(
      { length: this.random(6) },
      (_, index) => `10.244.${1 + index}.${1 + this.random(200)}`,
    );
    return {
      name: `soak-${number}`,
      clusterIP: `172.30.${1 + (number >> 7)}.${1 + (number & 127)}`,
      ports: [
        {
          name: 'main',
          protocol: number % 3 === 0 ? 'UDP' : 'TCP',
          port: 80,
          targetPort: 8080,
          ...(number % 5 === 0 && { nodePort: 30000 + number }),
        },
      ],
      ...(number % 7 === 0 && { affinitySeconds: 600 }),
      endpoints: [...new Set(endpoints)],
    };
  }
}
