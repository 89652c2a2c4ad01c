import {
  slicePorts,
  type EndpointSlice,
  type NumberedPort,
  type SliceEndpoint,
} from '../model/endpoint-slice.js';
import { parseAddress } from '../net/address.js';
import { familyOf, IP_FAMILIES } from '../net/ip-family.js';
import { unreachableRange } from '../net/special-address.js';
import { labelField, objectField, readEach, readObject, textField, type RawObject } from './fields.js';
import { InvalidObject, ProblemList, quote, type Reading } from './problem.js';
import { numberedPort } from './read-endpoint-slice.js';

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
      const ports = readEach(subset.ports, '.ports', readPort);
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

function readPort(raw: unknown): NumberedPort {
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
      isLocal: textField(entry.nodeName, '.nodeName') === nodeName && nodeName !== '',
      ready,
      serving: ready,
      terminating: false,
      zoneHints: [],
      nodeHints: [],
    };
  });
}
