import type { RawObject } from './fields.js';

/** The value of an annotation, whatever it is; undefined if it is missing. */
export function annotationOf({ annotations }: RawObject, name: string): unknown {
  const isObject = typeof annotations === 'object' && annotations !== null;
  return isObject ? (annotations as RawObject)[name] : undefined;
}

/** Where an annotation is, as problems and notes begin. */
export function annotationPath(name: string): string {
  return `metadata.annotations[${name}]`;
}
