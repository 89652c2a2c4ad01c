import type { ResourceKind } from '../../../application/ports/cluster-source.js';
import {
  endpointSliceRules,
  endpointsRules,
  metadataRules,
  serviceRules,
} from '../../../domain/decode/api-rules.js';
import type { RawObject } from '../../../domain/decode/fields.js';
import { quote, type Reading } from '../../../domain/decode/problem.js';
import { readEndpointSlice } from '../../../domain/decode/read-endpoint-slice.js';
import { readEndpoints } from '../../../domain/decode/read-endpoints.js';
import { readNode } from '../../../domain/decode/read-node.js';
import { readServiceCidr } from '../../../domain/decode/read-service-cidr.js';
import { readService } from '../../../domain/decode/read-service.js';

interface KindFacts {
  /** The accepted versions, the usual one first. */
  readonly apiVersions: readonly string[];
  readonly namespaced: boolean;
  readonly read: (object: unknown) => Reading<unknown>;
  readonly rules: (object: RawObject) => readonly string[];
}

const onlyMetadata = ({ metadata }: RawObject): readonly string[] => metadataRules(metadata);

const KINDS: Readonly<Record<ResourceKind, KindFacts>> = {
  Service: { apiVersions: ['v1'], namespaced: true, read: readService, rules: serviceRules },
  EndpointSlice: {
    apiVersions: ['discovery.k8s.io/v1'],
    namespaced: true,
    read: (object) => readEndpointSlice(object, ''),
    rules: endpointSliceRules,
  },
  Endpoints: {
    apiVersions: ['v1'],
    namespaced: true,
    read: (object) => readEndpoints(object, ''),
    rules: endpointsRules,
  },
  Node: { apiVersions: ['v1'], namespaced: false, read: readNode, rules: onlyMetadata },
  ServiceCIDR: {
    apiVersions: ['networking.k8s.io/v1', 'networking.k8s.io/v1beta1'],
    namespaced: false,
    read: readServiceCidr,
    rules: onlyMetadata,
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

/** Why the API server would reject the object, each reason with its field. */
export function objectProblems(kind: ResourceKind, object: RawObject): readonly string[] {
  const { apiVersions, read, rules } = KINDS[kind];
  const { apiVersion } = object;
  const unversioned = apiVersion === undefined || apiVersion === null;
  if (!unversioned && !apiVersions.includes(apiVersion as string))
    return [`apiVersion ${quote(apiVersion)} has no ${kind}; it is in ${apiVersions.join(' and ')}`];
  const { problems } = read(object);
  const broken = rules(object);
  return problems.length === 0
    ? broken
    : [...problems, ...broken.filter((problem) => !problems.includes(problem))];
}
