import type { ServiceKey } from '../../domain/model/service-port-name.js';

/**
 * Looks for one Service in the cluster, also of the kinds that its source leaves out because no proxy needs them: headless
 * ones, and those of another proxy. For explanations, never for forwarding.
 */
export interface ServiceLookup {
  /**
   * The object, raw; undefined if there is none. Costs one request. Rejects if the cluster cannot be asked; the caller tells
   * that, and nobody retries.
   */
  find(service: ServiceKey): Promise<unknown>;
}
