import type { Service } from '../model/service.js';
import { annotationOf, annotationPath } from './annotation.js';
import { readBalancing } from './balancing-annotations.js';
import type { RawObject } from './fields.js';
import type { ProblemList } from './problem.js';
import { quote } from './problem.js';

/** The IPVS scheduler for the Service, such as `mh` (docs/ipvs-mode.md). */
export const SCHEDULER_ANNOTATION = 'kube-proxy-ts/ipvs-scheduler';

/** `"true"` or `"false"`: whether silent endpoints of the Service step aside, whatever the configuration says (docs/failover.md). */
export const EJECT_ANNOTATION = 'kube-proxy-ts/eject-silent-endpoints';

/** The form of the kernel's names; at most IP_VS_SCHEDNAME_MAXLEN characters, minus the final zero. */
const SCHEDULER = /^[a-z][a-z0-9_]{0,14}$/;

/** What the annotations of a Service ask of this proxy. One that is not understood is ignored, with a note. */
export function readAnnotations(
  metadata: RawObject,
  notes: ProblemList,
): Pick<Service, 'scheduler' | 'ejectSilentEndpoints' | 'balancingMethod' | 'weights'> {
  return {
    ...readScheduler(metadata, notes),
    ...readEjection(metadata, notes),
    ...readBalancing(metadata, notes),
  };
}

function readScheduler(metadata: RawObject, notes: ProblemList): Pick<Service, 'scheduler'> {
  const scheduler = annotationOf(metadata, SCHEDULER_ANNOTATION);
  if (scheduler === undefined || scheduler === '') return {};
  if (typeof scheduler === 'string' && SCHEDULER.test(scheduler)) return { scheduler };
  notes.add(
    () => `${annotationPath(SCHEDULER_ANNOTATION)} ${quote(scheduler)} is not a scheduler's name; ignored`,
  );
  return {};
}

function readEjection(metadata: RawObject, notes: ProblemList): Pick<Service, 'ejectSilentEndpoints'> {
  const wanted = annotationOf(metadata, EJECT_ANNOTATION);
  if (wanted === undefined) return {};
  if (wanted === 'true' || wanted === 'false') return { ejectSilentEndpoints: wanted === 'true' };
  notes.add(
    () =>
      `${annotationPath(EJECT_ANNOTATION)} ${quote(wanted)} is neither "true" nor "false"; ignored, so the configuration decides`,
  );
  return {};
}
