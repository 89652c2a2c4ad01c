import {
  acceptedTypes,
  encodingOf,
  PREFERRED_TYPES,
} from '../../../../src/adapters/kubernetes/encoding/media-types.js';
import { jsonEncoding } from '../../../../src/adapters/kubernetes/encoding/json-encoding.js';
import { protobufEncoding } from '../../../../src/adapters/kubernetes/encoding/protobuf-encoding.js';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const JSON_TYPE = 'application/json';

it.each([
  ['the defaults', PROTOBUF, '', PREFERRED_TYPES, []],
  ['JSON', JSON_TYPE, '', JSON_TYPE, []],
  [
    'an Accept header',
    PROTOBUF,
    `${JSON_TYPE}, ${PROTOBUF};q=0.5, */*`,
    `${JSON_TYPE},${PROTOBUF};q=0.5,*/*`,
    [],
  ],
  ['protobuf alone', JSON_TYPE, PROTOBUF, PROTOBUF, []],
  ['a type that is unknown', 'application/cbor', '', JSON_TYPE, ['application/cbor']],
  [
    'an unknown type among others',
    PROTOBUF,
    `application/yaml,${JSON_TYPE}`,
    JSON_TYPE,
    ['application/yaml'],
  ],
  ['only unknown types', PROTOBUF, 'application/yaml', JSON_TYPE, ['application/yaml']],
])('%s', (_, contentType, acceptContentTypes, accept, unsupported) => {
  expect(acceptedTypes(contentType, acceptContentTypes)).toEqual({ accept, unsupported });
});

it.each([
  [PROTOBUF, protobufEncoding],
  [`${PROTOBUF};stream=watch`, protobufEncoding],
  ['Application/Vnd.Kubernetes.Protobuf ; stream=watch', protobufEncoding],
  [JSON_TYPE, jsonEncoding],
  ['text/html', jsonEncoding],
  ['', jsonEncoding],
])('the Content-Type "%s" decides', (contentType, encoding) => {
  expect(encodingOf(contentType)).toBe(encoding);
});
