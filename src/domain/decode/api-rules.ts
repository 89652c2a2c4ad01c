import { parseAddress } from '../net/address.js';
import { specialRange } from '../net/special-address.js';
import type { RawObject } from './fields.js';
import { quote } from './problem.js';

/**
 * The rules of the API server that the readers of this folder do not enforce: values that a later Kubernetes may know, and
 * addresses that would lead elsewhere. Objects from an API server follow its rules, which may be newer than these. Objects
 * from elsewhere are checked against these as well. Returns everything that is wrong, each with its field.
 */
type ApiRules = (object: RawObject) => readonly string[];

const TYPES = ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'];
const POLICIES = ['Cluster', 'Local'];
const AFFINITIES = ['None', 'ClientIP'];
const FAMILIES = ['IPv4', 'IPv6'];
const ADDRESS_TYPES = ['IPv4', 'IPv6', 'FQDN'];
const IP_MODES = ['VIP', 'Proxy'];

export const serviceRules: ApiRules = ({ metadata, spec, status }) => {
  const problems = [...metadataRules(metadata)];
  const { type, externalTrafficPolicy, internalTrafficPolicy, sessionAffinity, ipFamilies, externalIPs } =
    fields(spec);
  const oneOf = (value: unknown, known: readonly string[], path: string, rest = ''): void => {
    const problem = unknownValue(value, known);
    if (problem !== undefined) problems.push(`${path}${rest} ${problem}`);
  };
  oneOf(type, TYPES, 'spec.type');
  oneOf(externalTrafficPolicy, POLICIES, 'spec.externalTrafficPolicy');
  oneOf(internalTrafficPolicy, POLICIES, 'spec.internalTrafficPolicy');
  oneOf(sessionAffinity, AFFINITIES, 'spec.sessionAffinity');
  for (const [index, family] of members(ipFamilies).entries())
    oneOf(family, FAMILIES, 'spec.ipFamilies', `[${index}]`);
  for (const [index, address] of members(externalIPs).entries()) {
    const problem = specialAddress(address);
    if (problem !== undefined) problems.push(`spec.externalIPs[${index}] ${problem}`);
  }
  for (const [index, ingress] of members(fields(fields(status).loadBalancer).ingress).entries())
    oneOf(fields(ingress).ipMode, IP_MODES, 'status.loadBalancer.ingress', `[${index}].ipMode`);
  return problems;
};

export const endpointSliceRules: ApiRules = ({ metadata, addressType, endpoints }) => {
  const problems = [...metadataRules(metadata)];
  const type = given(addressType) ? unknownValue(addressType, ADDRESS_TYPES) : 'is missing';
  if (type !== undefined) problems.push(`addressType ${type}`);
  for (const [index, endpoint] of members(endpoints).entries()) {
    for (const [position, address] of members(fields(endpoint).addresses).entries()) {
      const problem = specialAddress(address);
      if (problem !== undefined) problems.push(`endpoints[${index}].addresses[${position}] ${problem}`);
    }
  }
  return problems;
};

export const endpointsRules: ApiRules = ({ metadata, subsets }) => {
  const problems = [...metadataRules(metadata)];
  for (const [index, subset] of members(subsets).entries()) {
    for (const list of ['addresses', 'notReadyAddresses']) {
      for (const [position, address] of members(fields(subset)[list]).entries()) {
        const problem = specialAddress(fields(address).ip);
        if (problem !== undefined) problems.push(`subsets[${index}].${list}[${position}].ip ${problem}`);
      }
    }
  }
  return problems;
};

const MAPS = ['labels', 'annotations'] as const;

/** Labels and annotations are strings: `version: 1` is invalid. */
export function metadataRules(metadata: unknown): readonly string[] {
  const problems: string[] = [];
  for (const name of MAPS) {
    const map = fields(metadata)[name];
    if (!given(map)) continue;
    if (Array.isArray(map) || map !== fields(map)) {
      problems.push(`metadata.${name} must be an object`);
      continue;
    }
    for (const key of Object.keys(map as RawObject)) {
      const value = (map as RawObject)[key];
      if (typeof value !== 'string')
        problems.push(`metadata.${name} must hold strings: ${quote(key)} is ${quote(value)}`);
    }
  }
  return problems;
}

function unknownValue(value: unknown, known: readonly string[]): string | undefined {
  if (!given(value) || known.includes(value as string)) return undefined;
  return `${quote(value)} is not one of ${known.join(', ')}`;
}

function specialAddress(text: unknown): string | undefined {
  const address = parseAddress(text);
  const range = address && specialRange(address);
  if (range === undefined) return undefined;
  return `${quote(text)} is ${range === 'unspecified' ? 'the' : 'a'} ${range} address`;
}

function given(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

const NOTHING: RawObject = Object.freeze({});
const NO_MEMBERS: readonly unknown[] = Object.freeze([]);

function fields(value: unknown): RawObject {
  return typeof value === 'object' && value !== null ? (value as RawObject) : NOTHING;
}

function members(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NO_MEMBERS;
}
