import type { EndpointSlice, SliceEndpoint, SlicePort } from '../model/endpoint-slice.js';
import { parseAddress } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import {
  hasLabel,
  integerField,
  labelField,
  listField,
  objectField,
  protocolField,
  subdomainField,
  textField,
} from './fields.js';
import { InvalidObject, quote, type Reading } from './problem.js';

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** Slices of headless Services carry this label; no proxy needs them. */
export const HEADLESS_LABEL = 'service.kubernetes.io/headless';
/** When the change behind a slice happened, RFC 3339 (spec/model.md 8). */
export const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';

const NO_HINTS: readonly string[] = [];

/** Reads a `discovery.k8s.io/v1 EndpointSlice` as seen from the node of that name (spec/model.md 3). */
export function readEndpointSlice(raw: unknown, nodeName: string): Reading<EndpointSlice> {
  const problems: string[] = [];
  try {
    const object = objectField(raw, 'EndpointSlice');
    const metadata = objectField(object.metadata, 'metadata');
    const name = subdomainField(metadata.name, 'metadata.name');
    const namespace = labelField(metadata.namespace, 'metadata.namespace');
    if (hasLabel(metadata, HEADLESS_LABEL)) return { ignored: `label ${HEADLESS_LABEL}`, problems };
    const service = textField(
      objectField(metadata.labels, 'metadata.labels')[SERVICE_NAME_LABEL],
      SERVICE_NAME_LABEL,
    );
    if (service === '') return { ignored: `no label ${SERVICE_NAME_LABEL}`, problems };
    const family = object.addressType;
    if (family !== 'IPv4' && family !== 'IPv6') return { ignored: `addressType ${quote(family)}`, problems };
    const annotations = objectField(metadata.annotations, 'metadata.annotations');
    const triggerTime = readTriggerTime(annotations[TRIGGER_TIME_ANNOTATION], problems);
    return {
      value: {
        namespace,
        name,
        service: labelField(service, `label ${SERVICE_NAME_LABEL}`),
        family,
        ports: listField(object.ports, 'ports').flatMap((port, index) => readPort(port, index, problems)),
        endpoints: listField(object.endpoints, 'endpoints').flatMap((endpoint, index) =>
          readEndpoint(endpoint, index, family, nodeName, problems),
        ),
        ...(triggerTime === undefined ? {} : { triggerTime }),
      },
      problems,
    };
  } catch (error) {
    if (error instanceof InvalidObject) return { problems: [error.message] };
    throw error;
  }
}

function readPort(raw: unknown, index: number, problems: string[]): SlicePort[] {
  const path = `ports[${index}]`;
  const port = objectField(raw, path);
  if (port.name === undefined || port.name === null) {
    problems.push(`${path} has no name; left out`);
    return [];
  }
  if (port.port === undefined || port.port === null || port.port === 0) {
    problems.push(`${path} has no port number; left out`);
    return [];
  }
  return [
    {
      name: port.name === '' ? '' : labelField(port.name, `${path}.name`),
      port: integerField(port.port, `${path}.port`, 1, 65535),
      protocol: protocolField(port.protocol, `${path}.protocol`),
    },
  ];
}

function readEndpoint(
  raw: unknown,
  index: number,
  family: IpFamily,
  nodeName: string,
  problems: string[],
): SliceEndpoint[] {
  const path = `endpoints[${index}]`;
  const endpoint = objectField(raw, path);
  const addresses = listField(endpoint.addresses, `${path}.addresses`);
  if (addresses.length === 0) {
    problems.push(`${path} has no address; left out`);
    return [];
  }
  const address = parseAddress(addresses[0]);
  if (!address || address.family !== family) {
    throw new InvalidObject(`${path}.addresses[0] ${quote(addresses[0])} is not an ${family} address`);
  }
  const conditions = objectField(endpoint.conditions, `${path}.conditions`);
  const hints = objectField(endpoint.hints, `${path}.hints`);
  return [
    {
      address: address.text,
      isLocal: nodeName !== '' && endpoint.nodeName === nodeName,
      ready: conditions.ready !== false,
      serving: conditions.serving !== false,
      terminating: conditions.terminating === true,
      zoneHints: readHints(hints.forZones, `${path}.hints.forZones`),
      nodeHints: readHints(hints.forNodes, `${path}.hints.forNodes`),
    },
  ];
}

function readHints(raw: unknown, path: string): readonly string[] {
  if (raw === undefined || raw === null) return NO_HINTS;
  return listField(raw, path).map((hint, index) =>
    textField(objectField(hint, `${path}[${index}]`).name, `${path}[${index}].name`),
  );
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i;

function readTriggerTime(raw: unknown, problems: string[]): number | undefined {
  if (raw === undefined || raw === null) return undefined;
  const time = typeof raw === 'string' && RFC3339.test(raw) ? Date.parse(raw) : NaN;
  if (Number.isNaN(time)) {
    problems.push(`annotation ${TRIGGER_TIME_ANNOTATION} ${quote(raw)} is not an RFC 3339 time; left out`);
    return undefined;
  }
  return time;
}
