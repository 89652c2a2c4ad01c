import type { ForwardingContext } from '../../domain/forwarding/forward-service.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';

/** Which Services have had their entries computed before the first sync, all in one context. */
export class PreparedServices {
  private readonly services = new Set<ServiceKey>();
  private context: ForwardingContext | undefined;

  /** From now on this context counts: what was computed in another one does not stand. */
  use(context: ForwardingContext): void {
    // Contexts are built field by field in one order, so their JSON compares them.
    if (context !== this.context && JSON.stringify(context) !== JSON.stringify(this.context))
      this.services.clear();
    this.context = context;
  }

  add(service: ServiceKey): void {
    this.services.add(service);
  }

  /** Those that changed since. */
  remove(services: Iterable<ServiceKey>): void {
    for (const service of services) this.services.delete(service);
  }

  /** Whether the entries of the Service stand as they were computed. Asked once: it is forgotten then. */
  take(service: ServiceKey): boolean {
    return this.services.delete(service);
  }
}
