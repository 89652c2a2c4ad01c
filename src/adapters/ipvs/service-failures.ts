import type { ServiceFailure } from '../../application/ports/backend.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';

/** The service ports that could not be programmed as they should be, each with the first reason. */
export class ServiceFailures {
  private readonly reasons = new Map<ServicePortKey, string>();

  blame(keys: Iterable<ServicePortKey>, reason: string): void {
    for (const key of keys) if (!this.reasons.has(key)) this.reasons.set(key, reason);
  }

  has(key: ServicePortKey): boolean {
    return this.reasons.has(key);
  }

  list(): readonly ServiceFailure[] {
    return [...this.reasons].map(([key, reason]) => ({ key, reason }));
  }
}
