import {
  serviceKey,
  serviceOf,
  type ServicePortKey,
  type ServiceKey,
} from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { MessageRate } from '../message-rate.js';
import type { Clock } from '../ports/clock.js';
import type { EventRecorder, EventSubject } from '../ports/event-recorder.js';
import type { DegradedStatus, FailedStatus } from '../status/port-status.js';
import { annotationPath } from '../../domain/decode/annotations.js';
import { cutText } from '../cut-text.js';

/**
 * Records an event on the Service when one of its ports fails to be programmed on this node; not for one that was never tried by
 * itself. Failures for the same reason are the same event.
 */
export function failedPortEvents(
  events: EventRecorder,
  nodeName: string,
): (family: IpFamily, key: ServicePortKey, status: FailedStatus) => void {
  return (family, key, { reason, attempts }) => {
    if (attempts === 0) return;
    const { regarding, port } = placeOf(key);
    events.record({
      regarding,
      type: 'Warning',
      reason: 'FailedToProgramServicePort',
      action: 'SyncProxyRules',
      note: `node ${nodeName} failed to program ${port} (${family}): ${reason}`,
    });
  };
}

/**
 * Records an event on the Service when one of its ports is degraded, as where its address belongs to
 * another Service. Not too often for one Service: it may have very many ports.
 */
export function degradedPortEvents(
  events: EventRecorder,
  nodeName: string,
  clock: Pick<Clock, 'steady'>,
): (family: IpFamily, key: ServicePortKey, status: DegradedStatus) => void {
  const rate = new MessageRate(clock);
  return (family, key, { reason, conflicts }) => {
    if (!rate.admit(serviceOf(key))) return;
    const { regarding, port } = placeOf(key);
    events.record({
      regarding,
      type: 'Warning',
      reason: conflicts ? 'FrontendConflict' : 'ServicePortDegraded',
      action: 'SyncProxyRules',
      note: `node ${nodeName} serves ${port} (${family}) with limits: ${reason}`,
    });
  };
}

function placeOf(key: ServicePortKey): { readonly regarding: EventSubject; readonly port: string } {
  const [namespace = '', name = ''] = serviceOf(key).split('/');
  return {
    regarding: { kind: 'Service', namespace, name },
    port: key.slice(serviceKey(namespace, name).length + 1),
  };
}

/** Called with the ignored parts of an object of a Service when they have changed. */
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
