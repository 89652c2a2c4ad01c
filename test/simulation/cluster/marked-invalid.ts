import type { ApiObject } from '../../support/api-server/object-store.js';

const MARK = 'simulation/invalid';

/** Tells whoever checks that an object is not valid. */
export function markedInvalid({ metadata, ...object }: ApiObject): ApiObject {
  return { ...object, metadata: { ...metadata, annotations: { [MARK]: '' } } } as ApiObject;
}

export function isMarkedInvalid({ metadata }: ApiObject): boolean {
  return MARK in ((metadata.annotations as object | undefined) ?? {});
}
