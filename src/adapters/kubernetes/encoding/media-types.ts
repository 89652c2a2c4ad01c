import { jsonEncoding } from './json-encoding.js';
import { protobufEncoding } from './protobuf-encoding.js';
import type { Encoding } from './encoding.js';

export const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** Protobuf, and JSON from servers that do not speak it. */
export const PREFERRED_TYPES = `${PROTOBUF_TYPE},${JSON_TYPE}`;

const DECODABLE: readonly string[] = [PROTOBUF_TYPE, JSON_TYPE, 'application/*', '*/*'];

/** The encoding of a response, by its Content-Type. Anything but protobuf counts as JSON, as errors of proxies show. */
export function encodingOf(contentType: string): Encoding {
  return mediaType(contentType) === PROTOBUF_TYPE ? protobufEncoding : jsonEncoding;
}

/**
 * The Accept header that clientConnection describes, as client-go forms it: `acceptContentTypes` if given, else `contentType`
 * with JSON as fall-back. Types that cannot be decoded are left out and returned as `unsupported`; JSON is always decodable.
 */
export function acceptedTypes(
  contentType: string,
  acceptContentTypes: string,
): { readonly accept: string; readonly unsupported: readonly string[] } {
  const requested = acceptContentTypes.trim() ? acceptContentTypes.split(',') : [contentType, JSON_TYPE];
  const types = [...new Set(requested.map((type) => type.trim()).filter(Boolean))];
  const supported = types.filter((type) => DECODABLE.includes(mediaType(type)));
  return {
    accept: supported.join(',') || JSON_TYPE,
    unsupported: types.filter((type) => !supported.includes(type)),
  };
}

/** Without parameters such as `;stream=watch`. */
function mediaType(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase();
}
