import { familyOf } from './addresses.js';
import type { Cluster, EndpointSlice, Mode, Service } from './objects.js';
import { METHOD_ANNOTATION, METHODS, WEIGHT_ANNOTATION, weightOf } from './service-ports.js';

/** Why an event is recorded on a Service (docs/behavior/life-cycle.md). */
export type EventReason = 'FrontendConflict' | 'FieldIgnored' | 'AnnotationIgnored' | 'NotSupportedByMode';

/** The reasons for which events are recorded on a Service because of its own objects. */
export function eventsOf(service: Service, slices: Cluster['slices'], mode: Mode): readonly EventReason[] {
  const { annotations = {} } = service.metadata;
  const isAnnotationIgnored =
    !isMethod(annotations[METHOD_ANNOTATION]) ||
    !areWeights(annotations[WEIGHT_ANNOTATION]) ||
    slices.some((slice) => !isWeight(slice.metadata.annotations?.[WEIGHT_ANNOTATION]));
  const hasSctp = (service.spec.ports ?? []).some(({ protocol }) => protocol === 'SCTP');
  return [
    ...(isAnnotationIgnored ? (['AnnotationIgnored'] as const) : []),
    ...(hasSctp && mode === 'userspace' ? (['NotSupportedByMode'] as const) : []),
  ];
}

function isMethod(text: string | undefined): boolean {
  return text === undefined || METHODS.includes(text);
}

function isWeight(text: string | undefined): boolean {
  return text === undefined || (/^\d+$/.test(text) && weightOf(Number(text)) !== undefined);
}

function areWeights(json: string | undefined): boolean {
  if (json === undefined) return true;
  try {
    const weights: unknown = JSON.parse(json);
    if (typeof weights !== 'object' || weights === null || Array.isArray(weights)) return false;
    return Object.entries(weights).every(
      ([address, value]) => familyOf(address) && weightOf(value) !== undefined,
    );
  } catch {
    return false;
  }
}

/** The slices of a Service that count. */
export function slicesOf({ metadata }: Service, slices: Cluster['slices']): readonly EndpointSlice[] {
  return slices.filter(
    ({ metadata: { namespace = 'default', labels = {} } }) =>
      namespace === (metadata.namespace ?? 'default') &&
      labels['kubernetes.io/service-name'] === metadata.name &&
      labels['service.kubernetes.io/headless'] === undefined,
  );
}
