/** Reads Services. */

import type { Service, ServicePortSpec, ServiceType, NotProxiedKind } from '../model/service.js';
import { subset } from '../model/subset.js';
import { flatText } from '../model/text.js';
import { parseAddress, unservableRange, type Address } from '../net/address.js';
import { parseCidr, type Cidr } from '../net/cidr.js';
import { IP_FAMILIES, type IpFamily } from '../net/ip-family.js';
import { isObject } from '../validation/schema.js';
import { readAnnotations } from './annotations.js';
import {
  hasLabel,
  integerField,
  labelField,
  listField,
  objectField,
  protocolField,
  readEach,
  readObject,
  textField,
  timeField,
  InvalidObject,
  ProblemList,
  quote,
  type RawObject,
  type Reading,
} from './fields.js';

/** Services with this label, with any value, belong to another proxy. */
export const SERVICE_PROXY_NAME_LABEL = 'service.kubernetes.io/service-proxy-name';

const DEFAULT_AFFINITY_SECONDS = 10800;
const MAX_AFFINITY_SECONDS = 86400;

/** Reads a `v1 Service` (docs/internals/spec/model.md §2). External addresses that do not parse are ignored, as in kube-proxy. */
export function readService(raw: unknown): Reading<Service, NotProxiedKind> {
  const problems = new ProblemList();
  const notes = new ProblemList();
  return readObject(raw, 'Service', (object, metadata) => {
    const spec = objectField(object.spec, 'spec');
    const namespace = labelField(metadata.namespace, 'metadata.namespace');
    const name = labelField(metadata.name, 'metadata.name');
    const ignored = reasonToIgnore(metadata, spec);
    if (ignored !== undefined) return { ignored, problems: problems.texts };
    return {
      value: {
        ...readCreation(metadata, notes),
        ...readProxiedService(namespace, name, spec, objectField(object.status, 'status'), problems, notes),
        ...readAnnotations(metadata, notes),
      },
      problems: problems.texts,
      notes: notes.texts,
    };
  });
}

function readCreation({ creationTimestamp }: RawObject, notes: ProblemList): Pick<Service, 'createdAt'> {
  const time = timeField(creationTimestamp, 'metadata.creationTimestamp', notes);
  return time === undefined ? {} : { createdAt: Math.floor(time / 1000) };
}

function reasonToIgnore(metadata: RawObject, spec: RawObject): NotProxiedKind | undefined {
  if (hasLabel(metadata, SERVICE_PROXY_NAME_LABEL)) return 'other-proxy';
  if (spec.type === 'ExternalName') return 'external-name';
  if (spec.clusterIP === 'None') return 'headless';
  if (spec.clusterIP === undefined || spec.clusterIP === null || spec.clusterIP === '')
    return 'no-cluster-ip';
  return undefined;
}

function readProxiedService(
  namespace: string,
  name: string,
  spec: RawObject,
  status: RawObject,
  problems: ProblemList,
  notes: ProblemList,
): Service {
  const type = readType(spec);
  const externalIPs = readEach(spec.externalIPs, 'spec.externalIPs', (text, index) =>
    readAddress(text, `spec.externalIPs[${index}]`, problems),
  );
  const reachableFromOutside = type !== 'ClusterIP' || externalIPs.length > 0;
  const externalPolicy = textField(spec.externalTrafficPolicy, 'spec.externalTrafficPolicy');
  const externalPolicyLocal = externalPolicy === 'Local' && reachableFromOutside;
  return {
    namespace,
    name,
    type,
    clusterIPs: readClusterIPs(spec),
    ports: readPorts(spec),
    affinitySeconds: readAffinity(spec),
    externalIPs,
    loadBalancerIPs: readLoadBalancerIPs(status, problems),
    sourceRanges: readSourceRanges(spec),
    externalPolicyLocal,
    internalPolicyLocal: textField(spec.internalTrafficPolicy, 'spec.internalTrafficPolicy') === 'Local',
    healthCheckNodePort:
      externalPolicyLocal && type === 'LoadBalancer' ? readHealthCheckNodePort(spec, notes) : 0,
    ...readSelector(spec),
  };
}

/** Of a longer selector the beginning is kept. Characters. */
const LONGEST_SELECTOR = 1_024;

/** Only shown, so nothing is checked. */
function readSelector({ selector }: RawObject): Pick<Service, 'selector'> {
  if (!isObject(selector)) return {};
  const labels = Object.entries(selector).map(([label, value]) => flatText(label, '=', String(value)));
  if (labels.length === 0) return {};
  return {
    selector: labels.length === 1 ? labels[0]! : flatText(labels.sort().join(',')).slice(0, LONGEST_SELECTOR),
  };
}

function readType(spec: RawObject): ServiceType {
  const type = textField(spec.type, 'spec.type');
  return type === 'LoadBalancer' || type === 'NodePort' ? type : 'ClusterIP';
}

function readClusterIPs(spec: RawObject): Partial<Record<IpFamily, string>> {
  const families = listField(spec.ipFamilies, 'spec.ipFamilies');
  if (families.length === 0) {
    const { family, text } = readClusterIP(spec.clusterIP, 'spec.clusterIP');
    return family === 'IPv4' ? { IPv4: text } : { IPv6: text };
  }
  const clusterIPs = listField(spec.clusterIPs, 'spec.clusterIPs');
  const textOf = (family: IpFamily): string | undefined => {
    const position = families.indexOf(family);
    if (position < 0 || position >= clusterIPs.length) return undefined;
    return readClusterIP(clusterIPs[position], `spec.clusterIPs[${position}]`, family).text;
  };
  const IPv4 = textOf('IPv4');
  const IPv6 = textOf('IPv6');
  // Literals have no spare room, which every Service would keep.
  if (IPv6 === undefined) return IPv4 === undefined ? {} : { IPv4 };
  return IPv4 === undefined ? { IPv6 } : { IPv4, IPv6 };
}

/** @param family the one that it has to be of, if any */
function readClusterIP(text: unknown, path: string, family?: IpFamily): Address {
  const address = parseAddress(text);
  if (!address) throw new InvalidObject(`${path} ${quote(text)} is not an IP address`);
  if (family === undefined || address.family === family) return address;
  throw new InvalidObject(`${path} ${quote(text)} is not of the family ${quote(family)} in spec.ipFamilies`);
}

function readPorts(spec: RawObject): readonly ServicePortSpec[] {
  const ports = readEach(spec.ports, 'spec.ports', readPort);
  if (ports.length > 1) requireUniqueNames(ports);
  return ports;
}

/** A Service may have a port of the same name for each protocol. */
function requireUniqueNames(ports: readonly ServicePortSpec[]): void {
  const places = new Map<string, number>();
  for (const [index, { name, protocol }] of ports.entries()) {
    const first = places.get(`${protocol}/${name}`);
    if (first !== undefined)
      throw new InvalidObject(`spec.ports[${index}] repeats the name and protocol of spec.ports[${first}]`);
    places.set(`${protocol}/${name}`, index);
  }
}

function readPort(raw: unknown): ServicePortSpec {
  const port = objectField(raw, '');
  const name = textField(port.name, '.name');
  const spec = {
    name: name === '' ? '' : labelField(name, '.name'),
    protocol: protocolField(port.protocol, '.protocol'),
    port: integerField(port.port, '.port', 1, 65535),
    nodePort: integerField(port.nodePort ?? 0, '.nodePort', 0, 65535),
  };
  const targetName = readTargetName(port.targetPort);
  return targetName === '' ? spec : { ...spec, targetName };
}

/** Only shown, so nothing is checked: a text in JSON, `strVal` of an object as the other encoding has it. */
function readTargetName(raw: unknown): string {
  const name = typeof raw === 'object' && raw !== null ? (raw as RawObject).strVal : raw;
  return typeof name === 'string' ? name : '';
}

function readAffinity(spec: RawObject): number {
  if (textField(spec.sessionAffinity, 'spec.sessionAffinity') !== 'ClientIP') return 0;
  const config = objectField(spec.sessionAffinityConfig, 'spec.sessionAffinityConfig');
  const clientIP = objectField(config.clientIP, 'spec.sessionAffinityConfig.clientIP');
  const path = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  return integerField(clientIP.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS, path, 1, MAX_AFFINITY_SECONDS);
}

/** The address; undefined if the text is blank or, which is a problem, not an address that a Service may have. */
function readAddress(text: unknown, path: string, problems: ProblemList): Address | undefined {
  const trimmed = typeof text === 'string' ? text.trim() : text;
  if (trimmed === '') return undefined;
  const address = parseAddress(trimmed);
  const range = address && unservableRange(address);
  if (!address) problems.add(() => `${path} ${quote(text)} is not an IP address; ignored`);
  if (range !== undefined) problems.add(() => `${path} ${quote(text)} is ${range}; ignored`);
  return range === undefined ? address : undefined;
}

function readLoadBalancerIPs(status: RawObject, problems: ProblemList): readonly Address[] {
  const { ingress } = objectField(status.loadBalancer, 'status.loadBalancer');
  return readEach(ingress, 'status.loadBalancer.ingress', (raw, index) => {
    const { ip, ipMode } = objectField(raw, '');
    const isVip = ipMode === undefined || ipMode === null || ipMode === 'VIP';
    if (!isVip || ip === undefined || ip === null) return undefined;
    return readAddress(ip, `status.loadBalancer.ingress[${index}].ip`, problems);
  });
}

/** An invalid range makes the Service invalid: without it, all sources might be let in. */
function readSourceRanges(spec: RawObject): readonly Cidr[] {
  const ranges = readEach(spec.loadBalancerSourceRanges, 'spec.loadBalancerSourceRanges', (text) => {
    const cidr = parseCidr(typeof text === 'string' ? text.trim() : text);
    if (!cidr) throw new InvalidObject(` ${quote(text)} is not a CIDR`);
    return cidr;
  });
  // A range of length 0 admits all sources of its family, so the other ranges of that family have no effect.
  const open = new Set(ranges.filter(({ prefixLength }) => prefixLength === 0).map(({ family }) => family));
  return subset(ranges, ({ family }) => !open.has(family));
}

function readHealthCheckNodePort(spec: RawObject, notes: ProblemList): number {
  const port = integerField(spec.healthCheckNodePort ?? 0, 'spec.healthCheckNodePort', 0, 65535);
  if (port === 0)
    notes.add(() => 'spec.healthCheckNodePort is missing although externalTrafficPolicy is Local');
  return port;
}

/** As many as a Service may have by default: nftables mode programs them in about a second. */
export const USUAL_FRONTENDS_LIMIT = 20_000;

/** The most sources of load-balancer frontends: each range is an element for each of these frontends. */
const MOST_SOURCES = 65_536;

/**
 * The problem of a Service that has more frontends, of both families, than the node may spend on one, or more source ranges for them;
 * undefined if it has not.
 * @param limit of frontends; 0: any number, of ranges, too
 */
export function tooManyFrontends(service: Service, limit: number): string | undefined {
  return limit === 0 ? undefined : (excessFrontends(service, limit) ?? excessSources(service));
}

function excessSources({ ports, loadBalancerIPs, sourceRanges }: Service): string | undefined {
  const sources = ports.length * loadBalancerIPs.length * sourceRanges.length;
  if (sources <= MOST_SOURCES) return undefined;
  return `spec.loadBalancerSourceRanges has ${sourceRanges.length} ranges for ${ports.length} ports on ${loadBalancerIPs.length} load-balancer IPs: ${sources} in all, more than ${MOST_SOURCES}`;
}

function excessFrontends(service: Service, limit: number): string | undefined {
  const addresses = addressesOf(service);
  const nodePorts = service.ports.filter(({ nodePort }) => nodePort !== 0).length;
  const frontends = service.ports.length * addresses + nodePorts;
  if (frontends <= limit) return undefined;
  const places = `${service.ports.length} ports on ${addresses} ${addresses === 1 ? 'address' : 'addresses'}`;
  return `spec.ports has ${places}${nodePorts > 0 ? `, ${nodePorts} with a node port` : ''}: ${frontends} frontends, more than --service-frontends-limit=${limit}`;
}

function addressesOf({ clusterIPs, externalIPs, loadBalancerIPs }: Service): number {
  const own = IP_FAMILIES.filter((family) => clusterIPs[family] !== undefined).length;
  const distinct = (addresses: Service['externalIPs']) => new Set(addresses.map(({ text }) => text)).size;
  return own + distinct(externalIPs) + distinct(loadBalancerIPs);
}
