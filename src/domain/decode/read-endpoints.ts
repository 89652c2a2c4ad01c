import {
  slicePort,
  type EndpointSlice,
  type NumberedPort,
  type SliceEndpoint,
} from '../model/endpoint-slice.js';
import { parseAddress } from '../net/address.js';
import { IP_FAMILIES, type IpFamily } from '../net/ip-family.js';
import { integerField, labelField, listField, objectField, protocolField, textField } from './fields.js';
import { InvalidObject, quote, type Reading } from './problem.js';

/**
 * Reads a `v1 Endpoints` object as equivalent EndpointSlices: one for each subset and family. Not-ready addresses become
 * endpoints that are not ready. The slices have names that no real slice can have.
 */
export function readEndpoints(raw: unknown, nodeName: string): Reading<readonly EndpointSlice[]> {
  try {
    const object = objectField(raw, 'Endpoints');
    const metadata = objectField(object.metadata, 'metadata');
    const namespace = labelField(metadata.namespace, 'metadata.namespace');
    const service = labelField(metadata.name, 'metadata.name');
    const slices = listField(object.subsets, 'subsets').flatMap((rawSubset, index) => {
      const path = `subsets[${index}]`;
      const subset = objectField(rawSubset, path);
      const ports = listField(subset.ports, `${path}.ports`).map((port, at) =>
        readPort(port, `${path}.ports[${at}]`),
      );
      const endpoints = [
        ...readAddresses(subset.addresses, `${path}.addresses`, true, nodeName),
        ...readAddresses(subset.notReadyAddresses, `${path}.notReadyAddresses`, false, nodeName),
      ];
      return IP_FAMILIES.flatMap((family) => {
        const ofFamily = endpoints.filter((endpoint) => familyOf(endpoint) === family);
        if (ofFamily.length === 0) return [];
        const name = `endpoints:${service}/${index}/${family}`;
        return { namespace, name, service, family, ports: ports.map((port) => slicePort(port, ofFamily)) };
      });
    });
    return { value: slices, problems: [] };
  } catch (error) {
    if (error instanceof InvalidObject) return { problems: [error.message] };
    throw error;
  }
}

function familyOf(endpoint: SliceEndpoint): IpFamily {
  return endpoint.address.includes(':') ? 'IPv6' : 'IPv4';
}

function readPort(raw: unknown, path: string): NumberedPort {
  const port = objectField(raw, path);
  const name = textField(port.name, `${path}.name`);
  return {
    name: name === '' ? '' : labelField(name, `${path}.name`),
    port: integerField(port.port, `${path}.port`, 1, 65535),
    protocol: protocolField(port.protocol, `${path}.protocol`),
  };
}

function readAddresses(raw: unknown, path: string, ready: boolean, nodeName: string): SliceEndpoint[] {
  return listField(raw, path).map((rawAddress, index) => {
    const entry = objectField(rawAddress, `${path}[${index}]`);
    const address = parseAddress(entry.ip);
    if (!address) throw new InvalidObject(`${path}[${index}].ip ${quote(entry.ip)} is not an IP address`);
    return {
      address: address.text,
      isLocal: textField(entry.nodeName, `${path}[${index}].nodeName`) === nodeName && nodeName !== '',
      ready,
      serving: ready,
      terminating: false,
      zoneHints: [],
      nodeHints: [],
    };
  });
}
