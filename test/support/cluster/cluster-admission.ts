import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { typeProblems } from '../../deploy/api-types.js';
import type { Admission } from '../api-server/admission.js';
import type { ApiObject } from '../api-server/object-store.js';

/** Whose types the client library does not have, or not under their own name. */
const UNTYPED = /^(monitoring\.coreos\.com|events\.k8s\.io|cilium\.io)\//;

/** Defaults of the kinds that have some which kubectl or a controller needs. */
const DEFAULTS: Readonly<Record<string, object>> = {
  DaemonSet: {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  },
  Pod: { restartPolicy: 'Always' },
};

/** What an API server does with writes. It refuses what the API's types do not know. */
export const clusterAdmission: Admission = {
  write(object, before) {
    const problems = UNTYPED.test(object.apiVersion) ? [] : typeProblems(object);
    if (problems.length > 0)
      throw new Error(`${object.kind} "${object.metadata.name}" is invalid: ${problems.join('; ')}`);
    return asStored(object, before);
  },

  /** A pod that a node runs goes when its containers have ended. */
  remove(object) {
    if (object.kind !== 'Pod' || !(object.spec as { nodeName?: string }).nodeName) return undefined;
    return { ...object, metadata: { ...object.metadata, deletionTimestamp: new Date().toISOString() } };
  },
};

/** With what the server sets itself: uid, time of creation, generation and defaults. */
export function asStored(object: ApiObject, before: ApiObject | undefined): ApiObject {
  const defaults = DEFAULTS[object.kind];
  const spec = defaults ? { ...defaults, ...(object.spec as object) } : object.spec;
  const { resourceVersion: _, ...metadata } = object.metadata;
  const kept = before?.metadata ?? { uid: randomUUID(), creationTimestamp: new Date().toISOString() };
  const { uid, creationTimestamp, resourceVersion } = kept as Record<string, string>;
  const generation = generationOf(before, spec);
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(resourceVersion !== undefined && { resourceVersion }),
      uid,
      creationTimestamp,
      ...(generation !== undefined && { generation }),
    },
    ...(spec !== undefined && { spec }),
  };
}

function generationOf(before: ApiObject | undefined, spec: unknown): number | undefined {
  if (spec === undefined) return undefined;
  if (!before) return 1;
  const generation = before.metadata.generation as number;
  return isDeepStrictEqual(before.spec, spec) ? generation : generation + 1;
}
