import type { RawObject } from '../decode/fields.js';
import { parseAddress } from '../net/address.js';
import { isMissing, isObject, membersOf } from './schema.js';

const AFFINITY_SECONDS = 10800;

const DEFAULTS: ReadonlyMap<string, (object: RawObject) => RawObject> = new Map([
  ['Service', serviceWithDefaults],
  ['EndpointSlice', endpointSliceWithDefaults],
  ['Node', nodeWithDefaults],
]);

/** A hand-written object of a kind with the defaults that an API server applies. Endpoints get theirs when they are read. */
export function withDefaults(kind: string, object: RawObject): RawObject {
  return DEFAULTS.get(kind)?.(object) ?? object;
}

/** A Service with the defaults that an API server applies before it validates the Service, without allocated values. */
export function serviceWithDefaults(service: RawObject): RawObject {
  const given = service.spec ?? {};
  if (!isObject(given)) return service;
  const type = isMissing(given.type) ? 'ClusterIP' : given.type;
  const spec: Record<string, unknown> = {
    ...given,
    type,
    ...affinityDefaults(given),
    ...(Array.isArray(given.ports) && { ports: given.ports.map(servicePort) }),
  };
  if (type === 'ExternalName') return { ...service, spec };
  const outside = type !== 'ClusterIP' || membersOf(given.externalIPs).length > 0;
  if (outside && isMissing(given.externalTrafficPolicy)) spec.externalTrafficPolicy = 'Cluster';
  spec.internalTrafficPolicy ??= 'Cluster';
  return { ...service, spec: { ...spec, ...familyDefaults(given) }, ...statusDefaults(service.status) };
}

function affinityDefaults({ sessionAffinity, sessionAffinityConfig }: RawObject): RawObject {
  if (isMissing(sessionAffinity)) return { sessionAffinity: 'None' };
  const config = sessionAffinityConfig ?? {};
  const clientIP = isObject(config) ? (config.clientIP ?? {}) : undefined;
  if (sessionAffinity !== 'ClientIP' || !isObject(config) || !isObject(clientIP)) return {};
  const timeoutSeconds = clientIP.timeoutSeconds ?? AFFINITY_SECONDS;
  return { sessionAffinityConfig: { ...config, clientIP: { ...clientIP, timeoutSeconds } } };
}

function servicePort(raw: unknown): unknown {
  const port = raw ?? {};
  if (!isObject(port)) return port;
  return isMissing(port.protocol) ? { ...port, protocol: 'TCP' } : port;
}

/** `clusterIPs` follows `clusterIP`, the families follow both, and a second one needs a request. */
function familyDefaults({
  clusterIP,
  clusterIPs,
  ipFamilies,
  ipFamilyPolicy,
  selector,
}: RawObject): RawObject {
  const none = isUnset(clusterIPs) || (Array.isArray(clusterIPs) && clusterIPs.length === 0);
  const ips = none && !isMissing(clusterIP) ? [clusterIP] : clusterIPs;
  const families = [...membersOf(ipFamilies)];
  if (!Array.isArray(ipFamilies ?? [])) return { clusterIPs: ips };
  for (const ip of membersOf(ips).slice(families.length)) {
    const family = parseAddress(ip)?.family;
    if (family === undefined || families.includes(family)) break;
    families.push(family);
  }
  const chooses = clusterIP === 'None' && !(isObject(selector) && Object.keys(selector).length > 0);
  return {
    clusterIPs: ips,
    ...(families.length > 0 && { ipFamilies: families }),
    ipFamilyPolicy: ipFamilyPolicy ?? (chooses ? 'RequireDualStack' : 'SingleStack'),
  };
}

function statusDefaults(status: unknown): RawObject {
  const loadBalancer = isObject(status) ? status.loadBalancer : undefined;
  if (!isObject(loadBalancer) || !Array.isArray(loadBalancer.ingress)) return {};
  const ingress = loadBalancer.ingress.map((each: unknown) =>
    isObject(each) && !isMissing(each.ip) && each.ipMode === undefined ? { ...each, ipMode: 'VIP' } : each,
  );
  return { status: { ...(status as RawObject), loadBalancer: { ...loadBalancer, ingress } } };
}

/** The list of a Node's networks follows its first one. */
export function nodeWithDefaults(node: RawObject): RawObject {
  const { spec } = node;
  if (!isObject(spec) || typeof spec.podCIDR !== 'string' || spec.podCIDR === '') return node;
  const { podCIDR, podCIDRs } = spec;
  const networks = podCIDRs ?? [];
  if (!Array.isArray(networks) || networks[0] === podCIDR) return node;
  // Other values stay, to be reported.
  if (networks.some((network) => typeof network !== 'string')) return node;
  return { ...node, spec: { ...spec, podCIDRs: [podCIDR] } };
}

/** The same object if there is nothing to add, as nearly always. */
export function endpointSliceWithDefaults(slice: RawObject): RawObject {
  const ports = membersOf(slice.ports);
  if (ports.every((port) => isObject(port) && !isUnset(port.name) && !isUnset(port.protocol))) return slice;
  return { ...slice, ports: ports.map(slicePort) };
}

/** Here, unlike in a Service, what is empty is not missing. */
function slicePort(raw: unknown): unknown {
  const port = raw ?? {};
  return isObject(port) ? { ...port, name: port.name ?? '', protocol: port.protocol ?? 'TCP' } : port;
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null;
}
