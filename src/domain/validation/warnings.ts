import {
  readSliceWeight,
  WEIGHT_ANNOTATION,
  BALANCING_ANNOTATION,
  EJECT_ANNOTATION,
  readAnnotations,
  SCHEDULER_ANNOTATION,
  annotationPath,
} from '../decode/annotations.js';
import { type RawObject, ProblemList } from '../decode/fields.js';
import { nearestName } from './nearest-name.js';
import { isObject, membersOf, type FieldProblem } from './schema.js';

const PREFIX = 'kube-proxy-ts/';
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  Service: [BALANCING_ANNOTATION, WEIGHT_ANNOTATION, SCHEDULER_ANNOTATION, EJECT_ANNOTATION],
  EndpointSlice: [WEIGHT_ANNOTATION],
};

/** The end of external IPs (KEP-5707). */
export const EXTERNAL_IPS_END =
  'deprecated: Kubernetes turns them off by default in 1.40 (feature gate AllowServiceExternalIPs) and removes them in 1.43';

/** Parts of a valid object that have no effect, or will have none in a later release of Kubernetes. */
export function* warningsOf(kind: string, { metadata, spec }: RawObject): Generator<FieldProblem> {
  yield* annotationWarnings(kind, metadata);
  if (kind === 'Service' && isObject(spec) && membersOf(spec.externalIPs).length > 0)
    yield { field: 'spec.externalIPs', what: EXTERNAL_IPS_END };
}

/** Annotations for this proxy that it cannot read. */
function* annotationWarnings(kind: string, metadata: unknown): Generator<FieldProblem> {
  const known = KNOWN[kind];
  if (!known || !isObject(metadata) || !isObject(metadata.annotations)) return;
  const notes = new ProblemList();
  if (kind === 'Service') readAnnotations(metadata, notes);
  else readSliceWeight(metadata, notes);
  for (const note of notes.texts) {
    const end = note.indexOf(' ');
    yield { field: note.slice(0, end), what: note.slice(end + 1) };
  }
  for (const name of Object.keys(metadata.annotations))
    if (name.startsWith(PREFIX) && !known.includes(name)) {
      const meant = nearestName(name, known);
      const hint = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`;
      yield {
        field: annotationPath(name),
        what: `is no annotation that the proxy reads on a ${kind}; ${hint}`,
      };
    }
}
