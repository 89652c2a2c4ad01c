/** Annotations of Services and EndpointSlices that are specific to this proxy. */

import { BALANCING_METHODS, MAX_WEIGHT } from '../balancing/balancing.js';
import type { Service } from '../model/service.js';
import { parseAddress } from '../net/address.js';
import { nearestName } from '../validation/nearest-name.js';
import { isObject } from '../validation/schema.js';
import { quote, type RawObject, type ProblemList } from './fields.js';

/** The IPVS scheduler for the Service, such as `mh` (docs/internals/ipvs.md). */
export const SCHEDULER_ANNOTATION = 'kube-proxy-ts/ipvs-scheduler';

/**
 * `"true"` or `"false"`: whether unresponsive endpoints of the Service are ejected; overrides the configuration
 * (docs/behavior/failover.md).
 */
export const EJECT_ANNOTATION = 'kube-proxy-ts/eject-unresponsive-endpoints';

/** On a Service: how endpoints are chosen (docs/configuration/load-balancing.md). */
export const BALANCING_ANNOTATION = 'kube-proxy-ts/load-balancing';

/** On an EndpointSlice: the weight of its endpoints. On a Service: a JSON object of weights by endpoint address. */
export const WEIGHT_ANNOTATION = 'kube-proxy-ts/weight';

/** The form of the kernel's names; at most IP_VS_SCHEDNAME_MAXLEN characters, minus the final zero. */
const SCHEDULER = /^[a-z][a-z0-9_]{0,14}$/;

type Annotated = Pick<Service, 'scheduler' | 'ejectUnresponsiveEndpoints' | 'balancingMethod' | 'weights'>;

/** The annotations of a Service for this proxy. One that cannot be read is ignored, with a note. */
export function readAnnotations(metadata: RawObject, notes: ProblemList): Annotated {
  return {
    ...readScheduler(metadata, notes),
    ...readEjection(metadata, notes),
    ...readMethod(metadata, notes),
    ...readWeights(metadata, notes),
  };
}

function readScheduler(metadata: RawObject, notes: ProblemList): Annotated {
  const scheduler = annotationOf(metadata, SCHEDULER_ANNOTATION);
  if (scheduler === undefined || scheduler === '') return {};
  if (typeof scheduler === 'string' && SCHEDULER.test(scheduler)) return { scheduler };
  return ignored(notes, SCHEDULER_ANNOTATION, () => `${quote(scheduler)} is not a scheduler's name; ignored`);
}

function readEjection(metadata: RawObject, notes: ProblemList): Annotated {
  const wanted = annotationOf(metadata, EJECT_ANNOTATION);
  if (wanted === undefined) return {};
  if (wanted === 'true' || wanted === 'false') return { ejectUnresponsiveEndpoints: wanted === 'true' };
  const reason = 'is neither "true" nor "false"; ignored, so the configuration decides';
  return ignored(notes, EJECT_ANNOTATION, () => `${quote(wanted)} ${reason}`);
}

function readMethod(metadata: RawObject, notes: ProblemList): Annotated {
  const wanted = annotationOf(metadata, BALANCING_ANNOTATION);
  if (wanted === undefined) return {};
  const balancingMethod = BALANCING_METHODS.find((method) => method === wanted);
  if (balancingMethod !== undefined) return { balancingMethod };
  const meant = typeof wanted === 'string' ? nearestName(wanted, BALANCING_METHODS) : undefined;
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  const reason = `is none of ${BALANCING_METHODS.join(', ')}; ignored, so endpoints are chosen as without it${hint}`;
  return ignored(notes, BALANCING_ANNOTATION, () => `${quote(wanted)} ${reason}`);
}

function readWeights(metadata: RawObject, notes: ProblemList): Annotated {
  const text = annotationOf(metadata, WEIGHT_ANNOTATION);
  if (text === undefined) return {};
  const parsed = typeof text === 'string' ? parsedObject(text) : undefined;
  if (!parsed) {
    const reason =
      'is not a JSON object of weights by endpoint address; ignored, so no endpoint has another weight by it';
    return ignored(notes, WEIGHT_ANNOTATION, () => `${quote(text)} ${reason}`);
  }
  const weights: [string, number][] = [];
  for (const [key, value] of Object.entries(parsed)) {
    const address = parseAddress(key);
    if (address && isWeight(value)) weights.push([address.text, value]);
    else
      ignored(
        notes,
        WEIGHT_ANNOTATION,
        () =>
          `has ${quote(key)}: ${quote(value)}, which is not ${address ? WEIGHT : 'an IP address'}; ignored, so that endpoint has the weight of its EndpointSlice, else 1`,
      );
  }
  return weights.length === 0 ? {} : { weights: Object.fromEntries(weights) };
}

/** The weight that an EndpointSlice gives its endpoints. One that cannot be read is ignored, with a note. */
export function readSliceWeight(metadata: RawObject, notes: ProblemList): number | undefined {
  const text = annotationOf(metadata, WEIGHT_ANNOTATION);
  if (text === undefined) return undefined;
  const weight = typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : undefined;
  if (isWeight(weight)) return weight;
  const reason = `is not ${WEIGHT}; ignored, so its endpoints have the weight 1`;
  ignored(notes, WEIGHT_ANNOTATION, () => `${quote(text)} ${reason}`);
  return undefined;
}

function ignored(notes: ProblemList, name: string, text: () => string): Annotated {
  notes.add(() => `${annotationPath(name)} ${text()}`);
  return {};
}

const WEIGHT = `a whole number from 0 to ${MAX_WEIGHT}`;

function isWeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_WEIGHT;
}

function parsedObject(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** The value of an annotation of any type; undefined if it is missing. */
function annotationOf({ annotations }: RawObject, name: string): unknown {
  return isObject(annotations) ? annotations[name] : undefined;
}

/** How the problems of all annotations of this proxy begin. */
export const OUR_ANNOTATIONS = 'metadata.annotations[kube-proxy-ts/';

/** Where an annotation is, as problems and notes begin. */
export function annotationPath(name: string): string {
  return `metadata.annotations[${name}]`;
}
