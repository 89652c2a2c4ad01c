import { annotationPath } from '../../domain/decode/annotations.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';
import { cutText } from '../cut-text.js';
import type { EventRecorder } from '../ports/event-recorder.js';

/** Told of what is ignored of an object of a Service, when that has changed. */
export type IgnoredParts = (service: ServiceKey, object: string, problems: readonly string[]) => void;

const OURS = annotationPath('kube-proxy-ts/').slice(0, -1);

/**
 * Records an event on the Service for what is ignored of it or of an EndpointSlice: annotations that this proxy does not
 * understand, and fields.
 */
export function ignoredPartEvents(events: EventRecorder): IgnoredParts {
  return (service, object, problems) => {
    const [namespace = '', name = ''] = service.split('/');
    const record = (reason: string, action: string, about: readonly string[]): void => {
      if (about.length === 0) return;
      events.record({
        regarding: { kind: 'Service', namespace, name },
        type: 'Warning',
        reason,
        action,
        note: cutText(`${object}: ${about.join('; ')}`),
      });
    };
    const isOurs = (problem: string): boolean => problem.startsWith(OURS);
    record('AnnotationNotUnderstood', 'ReadAnnotations', problems.filter(isOurs));
    record(
      'FieldIgnored',
      'ReadObject',
      problems.filter((problem) => !isOurs(problem)),
    );
  };
}
