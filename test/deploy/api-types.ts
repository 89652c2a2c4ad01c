// The whole package does not load on Node 20.
import * as models from '@kubernetes/client-node/dist/gen/models/all.js';

interface Attribute {
  readonly baseName: string;
  readonly type: string;
}

interface ApiType {
  getAttributeTypeMap(): readonly Attribute[];
}

/**
 * What is wrong with an object by the API's own types, each with its place: unknown kinds and fields, and values of another type.
 */
export function typeProblems(object: {
  readonly apiVersion: string;
  readonly kind: string;
}): readonly string[] {
  const version = object.apiVersion.split('/').at(-1)!;
  const name = `${version.charAt(0).toUpperCase()}${version.slice(1)}${object.kind}`;
  return problemsOf(object, name, object.kind);
}

function problemsOf(value: unknown, type: string, place: string): readonly string[] {
  const list = /^Array<(.*)>$/.exec(type)?.[1];
  if (list) {
    if (!Array.isArray(value)) return [`${place} is not a list`];
    return value.flatMap((item, index) => problemsOf(item, list, `${place}[${index}]`));
  }
  const record = /^\{ \[key: string\]: (.*?);? \}$/.exec(type)?.[1];
  if (record) {
    if (!isRecord(value)) return [`${place} is not a map`];
    return Object.entries(value).flatMap(([key, item]) => problemsOf(item, record, `${place}.${key}`));
  }
  switch (type) {
    case 'any':
      return [];
    case 'Date':
      return typeof value === 'string' ? [] : [`${place} is not a time`];
    case 'IntOrString':
      return typeof value === 'string' || Number.isInteger(value)
        ? []
        : [`${place} is neither number nor text`];
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type ? [] : [`${place} is not a ${type}`];
  }
  const known = (models as unknown as Record<string, Partial<ApiType> | undefined>)[type];
  if (!known?.getAttributeTypeMap) return [`${place}: there is no type ${type}`];
  if (!isRecord(value)) return [`${place} is not an object`];
  const attributes = known.getAttributeTypeMap();
  return Object.entries(value).flatMap(([field, item]) => {
    const attribute = attributes.find(({ baseName }) => baseName === field);
    if (!attribute) return [`${place} has no field ${field}`];
    return problemsOf(item, attribute.type, `${place}.${field}`);
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
