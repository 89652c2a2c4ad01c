import type { ForwardingContext } from '../../domain/forwarding/forward-service.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';

/** Which Services have had their entries computed before the first sync, all in one context. */
export class PreparedServices {
  private readonly services = new Set<ServiceKey>();
  private context: ForwardingContext | undefined;

  /** From now on this context counts. What was computed in another one does not stand, nor what has changed since. */
  use(context: ForwardingContext, changed: Iterable<ServiceKey>): void {
    // Contexts are built field by field in one order, so their JSON compares them.
    if (context !== this.context && JSON.stringify(context) !== JSON.stringify(this.context))
      this.services.clear();
    this.context = context;
    for (const service of changed) this.services.delete(service);
  }

  add(service: ServiceKey): void {
    this.services.add(service);
  }

  /** Whether the entries of the Service stand as they were computed. Asked once: it is forgotten then. */
  take(service: ServiceKey): boolean {
    return this.services.delete(service);
  }
}
