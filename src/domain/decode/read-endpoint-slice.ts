/** Reads EndpointSlices, and Endpoints of older clusters. */

import {
  slicePorts,
  type EndpointSlice,
  type NumberedPort,
  type SliceEndpoint,
} from '../model/endpoint-slice.js';
import { parseAddress, unreachableRange } from '../net/address.js';
import { familyOf, IP_FAMILIES, type IpFamily } from '../net/ip-family.js';
import { readSliceWeight } from './annotations.js';
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
  InvalidObject,
  ProblemList,
  quote,
  type RawObject,
  type Reading,
} from './fields.js';

/** The Service that a slice belongs to. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** Slices of headless Services have this label; no proxy needs them. */
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';
/** When the cause of a slice change happened, RFC 3339 (docs/internals/spec/model.md §8). */
export const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Why a valid slice is of no use: it is a headless Service's, names no Service, or has addresses of no family. */
export type IgnoredSlice = 'headless' | 'unlabeled' | 'address-type';

const SERVICE_NAME_PATH = `metadata.labels[${SERVICE_NAME_LABEL}]`;

/** Reads a `discovery.k8s.io/v1 EndpointSlice` as seen from the node of that name (docs/internals/spec/model.md §3). */
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
function numberedPort({ name, port, protocol }: RawObject): NumberedPort {
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
    ...readPod(endpoint, nodeName),
    zone: keptOnce(textField(endpoint.zone, '.zone')),
    ready: booleanField(conditions.ready, '.conditions.ready') !== false,
    serving: booleanField(conditions.serving, '.conditions.serving') !== false,
    terminating: booleanField(conditions.terminating, '.conditions.terminating') === true,
    zoneHints: readHints(hints.forZones, '.hints.forZones'),
    nodeHints: readHints(hints.forNodes, '.hints.forNodes'),
    ...(weight !== undefined && { weight }),
  };
}

/** The pod of an endpoint, and its node: of an entry of a slice or of Endpoints. */
function readPod(
  { targetRef, nodeName: rawNode }: RawObject,
  ownNode: string,
): Pick<SliceEndpoint, 'isLocal' | 'pod' | 'nodeName'> {
  const target = objectField(targetRef, '.targetRef');
  const nodeName = textField(rawNode, '.nodeName');
  const pod = target.kind === 'Pod' ? textField(target.name, '.targetRef.name') : '';
  return {
    isLocal: nodeName === ownNode && nodeName !== '',
    pod: pod === '' ? undefined : pod,
    nodeName: keptOnce(nodeName),
  };
}

/** Names of nodes and zones, each kept once, as every endpoint has them: no cluster has more. */
const NAMES = new Map<string, string>();
const MOST_NAMES = 10_000;

/** The same text, as it was seen first; undefined for an empty one. */
function keptOnce(name: string): string | undefined {
  if (name === '') return undefined;
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  if (NAMES.size >= MOST_NAMES) NAMES.clear();
  NAMES.set(name, name);
  return name;
}

function readHints(raw: unknown, path: string): readonly string[] {
  return readEach(raw, path, (hint) => textField(objectField(hint, '').name, '.name'));
}

/**
 * Reads a `v1 Endpoints` object as equivalent EndpointSlices: one for each subset and family. Not-ready addresses become
 * endpoints that are not ready. The slices have names that no real slice can have.
 */
export function readEndpoints(raw: unknown, nodeName: string): Reading<readonly EndpointSlice[]> {
  const problems = new ProblemList();
  return readObject(raw, 'Endpoints', (object, metadata) => {
    const namespace = labelField(metadata.namespace, 'metadata.namespace');
    const service = labelField(metadata.name, 'metadata.name');
    const slices = readEach(object.subsets, 'subsets', (rawSubset, index) => {
      const subset = objectField(rawSubset, '');
      const ports = readEach(subset.ports, '.ports', readSubsetPort);
      const path = `subsets[${index}]`;
      const endpoints = [true, false].flatMap((ready) =>
        readAddresses(subset, path, ready, nodeName, problems),
      );
      return IP_FAMILIES.flatMap((family) => {
        const ofFamily = endpoints.filter(({ address }) => familyOf(address) === family);
        if (ofFamily.length === 0) return [];
        const name = `endpoints:${service}/${index}/${family}`;
        return { namespace, name, service, family, ports: slicePorts(ports, ofFamily) };
      });
    });
    return { value: slices.flat(), problems: problems.texts };
  });
}

function readSubsetPort(raw: unknown): NumberedPort {
  const port = objectField(raw, '');
  return numberedPort({ ...port, name: textField(port.name, '.name') });
}

function readAddresses(
  subset: RawObject,
  path: string,
  ready: boolean,
  nodeName: string,
  problems: ProblemList,
): readonly SliceEndpoint[] {
  const field = ready ? 'addresses' : 'notReadyAddresses';
  return readEach(subset[field], `.${field}`, (raw, index) => {
    const entry = objectField(raw, '');
    const address = parseAddress(entry.ip);
    if (!address) throw new InvalidObject(`.ip ${quote(entry.ip)} is not an IP address`);
    const range = unreachableRange(address);
    if (range !== undefined) {
      problems.add(() => `${path}.${field}[${index}].ip ${quote(entry.ip)} is ${range}; ignored`);
      return undefined;
    }
    return {
      address: address.text,
      ...readPod(entry, nodeName),
      ready,
      serving: ready,
      terminating: false,
      zoneHints: [],
      nodeHints: [],
    };
  });
}
