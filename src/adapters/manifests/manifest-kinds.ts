import type { ResourceKind } from '../../application/ports/cluster-source.js';
import { type RawObject, quote, type Reading } from '../../domain/decode/fields.js';
import { readEndpointSlice, readEndpoints } from '../../domain/decode/read-endpoint-slice.js';
import { readNode } from '../../domain/decode/read-node.js';
import { readServiceCidr } from '../../domain/decode/read-service-cidr.js';
import { readService } from '../../domain/decode/read-service.js';
import {
  nodeSchema,
  serviceCidrSchema,
  endpointSliceSchema,
  endpointsSchema,
} from '../../domain/validation/object-schemas.js';
import { withDefaults } from '../../domain/validation/defaults.js';
import { nearestName } from '../../domain/validation/nearest-name.js';
import type { FieldProblem, Schema } from '../../domain/validation/schema.js';
import { serviceSchema } from '../../domain/validation/service-schema.js';

interface KindFacts {
  /** The accepted versions, the usual one first. */
  readonly apiVersions: readonly string[];
  readonly namespaced: boolean;
  readonly schema: Schema;
  readonly read: (object: unknown) => Reading<unknown>;
}

const KINDS: Readonly<Record<ResourceKind, KindFacts>> = {
  Service: {
    apiVersions: ['v1'],
    namespaced: true,
    schema: serviceSchema,
    read: readService,
  },
  EndpointSlice: {
    apiVersions: ['discovery.k8s.io/v1'],
    namespaced: true,
    schema: endpointSliceSchema,
    read: (object) => readEndpointSlice(object, ''),
  },
  Endpoints: {
    apiVersions: ['v1'],
    namespaced: true,
    schema: endpointsSchema,
    read: (object) => readEndpoints(object, ''),
  },
  Node: {
    apiVersions: ['v1'],
    namespaced: false,
    schema: nodeSchema,
    read: readNode,
  },
  ServiceCIDR: {
    apiVersions: ['networking.k8s.io/v1', 'networking.k8s.io/v1beta1'],
    namespaced: false,
    schema: serviceCidrSchema,
    read: readServiceCidr,
  },
};

export const MANIFEST_KINDS = Object.keys(KINDS) as readonly ResourceKind[];

/** The API groups of Kubernetes itself. In others, such as Knative's, a kind of the same name is a different kind. */
const OWN_GROUP = /^[a-z]*$|(?:^|\.)k8s\.io$/;

export function isNamespaced(kind: ResourceKind): boolean {
  return KINDS[kind].namespaced;
}

/** Whether the proxy reads the kind. Without an apiVersion, the kind alone decides. */
export function isRead(kind: string, apiVersion: unknown): kind is ResourceKind {
  if (!Object.hasOwn(KINDS, kind)) return false;
  return (
    typeof apiVersion !== 'string' || !apiVersion.includes('/') || OWN_GROUP.test(apiVersion.split('/')[0]!)
  );
}

/** The object as an API server would store it, and why it would reject it. */
export interface CheckedObject {
  readonly object: RawObject;
  readonly problems: readonly FieldProblem[];
}

/**
 * Applies the defaults of an API server and its rules, all of them; what these let pass and the proxy cannot use is a problem
 * as well.
 */
export function checkObject(kind: ResourceKind, given: RawObject): CheckedObject {
  const { apiVersions, read } = KINDS[kind];
  const { apiVersion } = given;
  const unversioned = apiVersion === undefined || apiVersion === null;
  if (!unversioned && !apiVersions.includes(apiVersion as string)) {
    const what = `${quote(apiVersion)} has no ${kind}; it is in ${apiVersions.join(' and ')}`;
    return { object: given, problems: [{ field: 'apiVersion', what }] };
  }
  const { object, problems } = brokenRules(kind, given);
  return { object, problems: problems.length > 0 ? problems : read(object).problems.map(fieldProblem) };
}

/** As `checkObject`, by the API server's rules alone. */
export function brokenRules(kind: ResourceKind, given: RawObject): CheckedObject {
  const object = withDefaults(kind, given);
  const problems: FieldProblem[] = [];
  let count = 0;
  KINDS[kind].schema(object, '', (field, what) => {
    if (count++ < MOST_PROBLEMS) problems.push({ field, what });
  });
  if (count > MOST_PROBLEMS) problems.push({ field: '', what: `has ${count - MOST_PROBLEMS} more problems` });
  return { object, problems };
}

/** So many problems of an object are named; the rest is counted. */
const MOST_PROBLEMS = 20;

/** The form of problems that decoding reports. */
const PROBLEM = /^(\S+) (.*)$/s;

function fieldProblem(text: string): FieldProblem {
  const [, field = '', what = text] = PROBLEM.exec(text) ?? [];
  return { field, what };
}

/** The kind that was probably meant by one that does not exist: a misspelled one of these. */
export function meantKind(kind: string, apiVersion: unknown): ResourceKind | undefined {
  if (Object.hasOwn(KINDS, kind)) return undefined;
  const meant = nearestName(kind, MANIFEST_KINDS) as ResourceKind | undefined;
  return meant !== undefined && isRead(meant, apiVersion) ? meant : undefined;
}
