import { annotationPath } from '../../domain/decode/annotation.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';
import { cutText } from '../cut-text.js';
import type { EventRecorder } from '../ports/event-recorder.js';

/** Told of what is ignored of an object of a Service, when that has changed. */
export type IgnoredParts = (service: ServiceKey, object: string, notes: readonly string[]) => void;

const OURS = annotationPath('kube-proxy-ts/').slice(0, -1);

/** Records an event on the Service for annotations, its own or of an EndpointSlice, that this proxy does not understand. */
export function annotationEvents(events: EventRecorder): IgnoredParts {
  return (service, object, notes) => {
    const about = notes.filter((note) => note.startsWith(OURS));
    if (about.length === 0) return;
    const [namespace = '', name = ''] = service.split('/');
    events.record({
      regarding: { kind: 'Service', namespace, name },
      type: 'Warning',
      reason: 'AnnotationNotUnderstood',
      action: 'ReadAnnotations',
      note: cutText(`${object}: ${about.join('; ')}`),
    });
  };
}
