import { BALANCING_METHODS, MAX_WEIGHT } from '../balancing/balancing.js';
import type { Service } from '../model/service.js';
import { parseAddress } from '../net/address.js';
import { nearestName } from '../validation/nearest-name.js';
import { annotationOf, annotationPath } from './annotation.js';
import type { RawObject } from './fields.js';
import type { ProblemList } from './problem.js';
import { quote } from './problem.js';

/** On a Service: how endpoints are chosen (docs/load-balancing.md). */
export const BALANCING_ANNOTATION = 'kube-proxy-ts/load-balancing';

/** On an EndpointSlice: the weight of its endpoints. On a Service: a JSON object of weights by endpoint address. */
export const WEIGHT_ANNOTATION = 'kube-proxy-ts/weight';

const PATH = annotationPath(WEIGHT_ANNOTATION);

/** What a Service asks for. What is not understood is ignored, with a note. */
export function readBalancing(
  metadata: RawObject,
  notes: ProblemList,
): Pick<Service, 'balancingMethod' | 'weights'> {
  return { ...readMethod(metadata, notes), ...readWeights(metadata, notes) };
}

function readMethod(metadata: RawObject, notes: ProblemList): Pick<Service, 'balancingMethod'> {
  const wanted = annotationOf(metadata, BALANCING_ANNOTATION);
  if (wanted === undefined) return {};
  const balancingMethod = BALANCING_METHODS.find((method) => method === wanted);
  if (balancingMethod !== undefined) return { balancingMethod };
  const meant = typeof wanted === 'string' ? nearestName(wanted, BALANCING_METHODS) : undefined;
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  notes.add(
    () =>
      `${annotationPath(BALANCING_ANNOTATION)} ${quote(wanted)} is none of ${BALANCING_METHODS.join(', ')}; ignored, so endpoints are chosen as without it${hint}`,
  );
  return {};
}

function readWeights(metadata: RawObject, notes: ProblemList): Pick<Service, 'weights'> {
  const text = annotationOf(metadata, WEIGHT_ANNOTATION);
  if (text === undefined) return {};
  const parsed = typeof text === 'string' ? parsedObject(text) : undefined;
  if (!parsed) {
    notes.add(
      () =>
        `${PATH} ${quote(text)} is not a JSON object of weights by endpoint address; ignored, so no endpoint has another weight by it`,
    );
    return {};
  }
  const weights: [string, number][] = [];
  for (const [key, value] of Object.entries(parsed)) {
    const address = parseAddress(key);
    if (address && isWeight(value)) weights.push([address.text, value]);
    else
      notes.add(
        () =>
          `${PATH} has ${quote(key)}: ${quote(value)}, which is not ${address ? `a whole number from 0 to ${MAX_WEIGHT}` : 'an IP address'}; ignored, so that endpoint has the weight of its EndpointSlice, else 1`,
      );
  }
  return weights.length === 0 ? {} : { weights: Object.fromEntries(weights) };
}

/** The weight that an EndpointSlice gives its endpoints. One that is not understood is ignored, with a note. */
export function readSliceWeight(metadata: RawObject, notes: ProblemList): number | undefined {
  const text = annotationOf(metadata, WEIGHT_ANNOTATION);
  if (text === undefined) return undefined;
  const weight = typeof text === 'string' && /^\d{1,4}$/.test(text) ? Number(text) : undefined;
  if (isWeight(weight)) return weight;
  notes.add(
    () =>
      `${PATH} ${quote(text)} is not a whole number from 0 to ${MAX_WEIGHT}; ignored, so its endpoints have the weight 1`,
  );
  return undefined;
}

function isWeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_WEIGHT;
}

function parsedObject(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
