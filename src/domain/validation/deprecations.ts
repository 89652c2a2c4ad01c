import { listField, objectField, type RawObject } from '../decode/fields.js';
import type { FieldProblem } from './schema.js';

/** What becomes of external IPs (KEP-5707). */
export const EXTERNAL_IPS_END =
  'deprecated: Kubernetes turns them off by default in 1.40 (feature gate AllowServiceExternalIPs) and removes them in 1.43';

/** Fields of an object that is valid which a later release of Kubernetes no longer has. */
export function* deprecationDoubts(kind: string, { spec }: RawObject): Generator<FieldProblem> {
  if (kind !== 'Service') return;
  const externalIPs = listField(objectField(spec, 'spec').externalIPs, 'spec.externalIPs');
  if (externalIPs.length > 0) yield { field: 'spec.externalIPs', what: EXTERNAL_IPS_END };
}
