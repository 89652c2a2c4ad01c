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
import { isObject, type FieldProblem } from './schema.js';

const PREFIX = 'kube-proxy-ts/';
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  Service: [BALANCING_ANNOTATION, WEIGHT_ANNOTATION, SCHEDULER_ANNOTATION, EJECT_ANNOTATION],
  EndpointSlice: [WEIGHT_ANNOTATION],
};

/** What annotations of an object that is valid ask of this proxy, which does not understand it and goes on without. */
export function* annotationDoubts(kind: string, { metadata }: RawObject): Generator<FieldProblem> {
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
