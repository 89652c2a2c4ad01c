import {
  slicePorts,
  type EndpointSlice,
  type NumberedPort,
  type SliceEndpoint,
} from '../model/endpoint-slice.js';
import { parseAddress } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import { unreachableRange } from '../net/special-address.js';
import {
  booleanField,
  hasLabel,
  integerField,
  labelField,
  listField,
  objectField,
  protocolField,
  readEach,
  readObject,
  subdomainField,
  textField,
  timeField,
  type RawObject,
} from './fields.js';
import { readSliceWeight } from './balancing-annotations.js';
import { InvalidObject, ProblemList, quote, type Reading } from './problem.js';

/** The Service that a slice belongs to. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** Slices of headless Services have this label; no proxy needs them. */
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';
/** When the cause of a slice change happened, RFC 3339 (docs/spec/model.md §8). */
export const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Why a valid slice is of no use: it is a headless Service's, names no Service, or has addresses of no family. */
export type IgnoredSlice = 'headless' | 'unlabeled' | 'address-type';

const SERVICE_NAME_PATH = `metadata.labels[${SERVICE_NAME_LABEL}]`;

/** Reads a `discovery.k8s.io/v1 EndpointSlice` as seen from the node of that name (docs/spec/model.md §3). */
export function readEndpointSlice(raw: unknown, nodeName: string): Reading<EndpointSlice, IgnoredSlice> {
  const problems = new ProblemList();
  const notes = new ProblemList();
  return readObject(raw, 'EndpointSlice', (object, metadata) => {
    const name = subdomainField(metadata.name, 'metadata.name');
    const namespace = labelField(metadata.namespace, 'metadata.namespace');
    if (hasLabel(metadata, HEADLESS_LABEL)) return { ignored: 'headless', problems: problems.texts };
    const service = textField(
      objectField(metadata.labels, 'metadata.labels')[SERVICE_NAME_LABEL],
      SERVICE_NAME_PATH,
    );
    if (service === '') return { ignored: 'unlabeled', problems: problems.texts };
    const family = object.addressType;
    if (family !== 'IPv4' && family !== 'IPv6') return { ignored: 'address-type', problems: problems.texts };
    const annotations = objectField(metadata.annotations, 'metadata.annotations');
    const triggerTime = timeField(
      annotations[TRIGGER_TIME_ANNOTATION],
      `metadata.annotations[${TRIGGER_TIME_ANNOTATION}]`,
      notes,
    );
    const weight = readSliceWeight(metadata, notes);
    const ports = readEach(object.ports, 'ports', (port, index) => readPort(port, index, notes));
    const endpoints = readEach(object.endpoints, 'endpoints', (endpoint, index) =>
      readEndpoint(endpoint, index, family, nodeName, problems, weight),
    );
    return {
      value: {
        namespace,
        name,
        service: labelField(service, SERVICE_NAME_PATH),
        family,
        ports: slicePorts(ports, endpoints),
        ...(ports.length === 0 && endpoints.length > 0 ? { portless: endpoints.length } : {}),
        ...(triggerTime === undefined ? {} : { triggerTime }),
      },
      problems: problems.texts,
      notes: notes.texts,
    };
  });
}

function readPort(raw: unknown, index: number, notes: ProblemList): NumberedPort | undefined {
  const port = objectField(raw, '');
  if (port.name === undefined || port.name === null) {
    notes.add(() => `ports[${index}] has no name; ignored`);
    return undefined;
  }
  if (port.port === undefined || port.port === null || port.port === 0) {
    notes.add(() => `ports[${index}] has no port number; ignored`);
    return undefined;
  }
  return numberedPort(port);
}

/** A port as slices and Endpoints have it, with a name, if only an empty one. */
export function numberedPort({ name, port, protocol }: RawObject): NumberedPort {
  return {
    name: name === '' ? '' : labelField(name, '.name'),
    port: integerField(port, '.port', 1, 65535),
    protocol: protocolField(protocol, '.protocol'),
  };
}

function readEndpoint(
  raw: unknown,
  index: number,
  family: IpFamily,
  nodeName: string,
  problems: ProblemList,
  weight: number | undefined,
): SliceEndpoint | undefined {
  const endpoint = objectField(raw, '');
  const addresses = listField(endpoint.addresses, '.addresses');
  if (addresses.length === 0) {
    problems.add(() => `endpoints[${index}] has no address; ignored`);
    return undefined;
  }
  const [address] = addresses.map((text, position) => {
    const parsed = parseAddress(text);
    if (parsed?.family === family) return parsed;
    throw new InvalidObject(`.addresses[${position}] ${quote(text)} is not an ${family} address`);
  });
  const range = unreachableRange(address!);
  if (range !== undefined) {
    problems.add(() => `endpoints[${index}].addresses[0] ${quote(address!.text)} is ${range}; ignored`);
    return undefined;
  }
  const conditions = objectField(endpoint.conditions, '.conditions');
  const hints = objectField(endpoint.hints, '.hints');
  return {
    address: address!.text,
    isLocal: textField(endpoint.nodeName, '.nodeName') === nodeName && nodeName !== '',
    ready: booleanField(conditions.ready, '.conditions.ready') !== false,
    serving: booleanField(conditions.serving, '.conditions.serving') !== false,
    terminating: booleanField(conditions.terminating, '.conditions.terminating') === true,
    zoneHints: readHints(hints.forZones, '.hints.forZones'),
    nodeHints: readHints(hints.forNodes, '.hints.forNodes'),
    ...(weight !== undefined && { weight }),
  };
}

function readHints(raw: unknown, path: string): readonly string[] {
  return readEach(raw, path, (hint) => textField(objectField(hint, '').name, '.name'));
}
