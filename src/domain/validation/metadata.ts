import {
  anything,
  flag,
  integer,
  isObject,
  map,
  object,
  objects,
  required,
  text,
  texts,
  type Rule,
  type Schema,
} from './schema.js';
import { annotationKey, dnsLabel, labelValue, qualifiedName, time, type TextCheck } from './text-checks.js';

/** Of all keys and values together, in bytes. */
const LARGEST_ANNOTATIONS = 256 * 1024;

const GENERIC_FINALIZERS = ['orphan', 'foregroundDeletion', 'kubernetes'];

/** The labels of an object, and selectors of labels. */
export const labels: Schema = map(qualifiedName, labelValue);

const annotationsFit: Rule = ({ annotations }, field, report) => {
  if (!isObject(annotations)) return;
  let size = 0;
  for (const [key, value] of Object.entries(annotations))
    size += byteLength(key) + (typeof value === 'string' ? byteLength(value) : 0);
  if (size > LARGEST_ANNOTATIONS)
    report(`${field}.annotations`, `have ${size} bytes; at most ${LARGEST_ANNOTATIONS} are allowed`);
};

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

const finalizer: TextCheck = (name) =>
  qualifiedName(name) ??
  (name.includes('/') || GENERIC_FINALIZERS.includes(name)
    ? undefined
    : 'has no prefix such as example.com/');

/** An object whose names have this form, with these fields besides those that every object has. */
export function apiObject(
  name: TextCheck,
  fields: Readonly<Record<string, Schema>>,
  ...rules: readonly Rule[]
): Schema {
  return object({ apiVersion: text(), kind: text(), metadata: metadata(name), ...fields }, ...rules);
}

function metadata(name: TextCheck): Schema {
  return object(
    {
      name: text(name),
      generateName: text((prefix) => name(prefix.replace(/-$/, 'a'))),
      namespace: text(dnsLabel),
      selfLink: text(),
      uid: text(),
      resourceVersion: text(),
      generation: integer(0, Number.MAX_SAFE_INTEGER),
      creationTimestamp: text(time),
      deletionTimestamp: text(time),
      deletionGracePeriodSeconds: integer(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      labels,
      annotations: map(annotationKey),
      ownerReferences: objects(
        {
          apiVersion: text(),
          kind: text(),
          name: text(),
          uid: text(),
          controller: flag,
          blockOwnerDeletion: flag,
        },
        ...['apiVersion', 'kind', 'name', 'uid'].map((field) => required(field)),
      ),
      finalizers: texts(finalizer),
      managedFields: anything,
    },
    annotationsFit,
  );
}
