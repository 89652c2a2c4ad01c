import { type RawObject, quote } from '../decode/fields.js';
import { parseAddress } from '../net/address.js';
import { integer, isMissing, isObject, membersOf, required, type Rule } from './schema.js';
import { address, cidr } from './text-checks.js';

/** The rules of a Service that concern several of its fields. All but the last two are rules of its spec. */

export function isExternal({ type }: RawObject): boolean {
  return type === 'ExternalName';
}

export function isOfType(...types: readonly string[]): (spec: RawObject) => boolean {
  return ({ type }) => types.includes(type as string);
}

/** A type that is unknown is reported by itself. */
export function mayHaveExternalPolicy(spec: RawObject): boolean {
  return (
    spec.type !== 'ExternalName' && (spec.type !== 'ClusterIP' || membersOf(spec.externalIPs).length > 0)
  );
}

export function needsHealthCheck({ type, externalTrafficPolicy }: RawObject): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** After the defaults, `clusterIPs` follows `clusterIP`. */
function isHeadless({ clusterIPs }: RawObject): boolean {
  const [first, ...more] = membersOf(clusterIPs);
  return first === 'None' && more.length === 0;
}

export const portsExist: Rule = (spec, field, report) => {
  if (!isHeadless(spec) && !isExternal(spec)) required('ports')(spec, field, report);
};

export const portsAreNamed: Rule = ({ ports }, field, report) => {
  const all = membersOf(ports);
  if (all.length < 2) return;
  for (const [index, port] of all.entries()) {
    if (isMissing(isObject(port) ? port.name : undefined))
      report(`${field}.ports[${index}].name`, 'is missing; with several ports each needs one');
  }
};

export const headlessFits: Rule = (spec, field, report) => {
  const { type, ports } = spec;
  if (isHeadless(spec) && (type === 'NodePort' || type === 'LoadBalancer'))
    report(`${field}.clusterIP`, `"None" does not go with the type ${type}`);
  if (type !== 'ClusterIP') return;
  for (const [index, port] of membersOf(ports).entries()) {
    if (isObject(port) && !isMissing(port.nodePort) && port.nodePort !== 0)
      report(`${field}.ports[${index}].nodePort`, 'does not go with the type ClusterIP');
  }
};

export const clusterIPsFollow: Rule = (spec, field, report) => {
  const { clusterIP } = spec;
  const [first, ...more] = membersOf(spec.clusterIPs);
  if (isExternal(spec) || first === undefined) return;
  const path = `${field}.clusterIPs`;
  if (isMissing(clusterIP)) report(path, 'is given without clusterIP, which must be its first');
  else if (first !== clusterIP)
    report(`${path}[0]`, `${quote(first)} is not the clusterIP ${quote(clusterIP)}`);
  if (first === 'None' && more.length > 0) report(path, 'has more than "None"');
  for (const [index, ip] of more.entries()) {
    const wrong = address(typeof ip === 'string' ? ip : '');
    if (wrong !== undefined) report(`${path}[${index + 1}]`, `${quote(ip)} ${wrong}`);
  }
};

export const affinityTimeout: Rule = ({ sessionAffinity, sessionAffinityConfig }, field, report) => {
  const clientIP = isObject(sessionAffinityConfig) ? sessionAffinityConfig.clientIP : undefined;
  if (sessionAffinity !== 'ClientIP' || !isObject(clientIP)) return;
  integer(1, 86400)(
    clientIP.timeoutSeconds,
    `${field}.sessionAffinityConfig.clientIP.timeoutSeconds`,
    report,
  );
};

export const familiesFit: Rule = ({ clusterIPs, ipFamilies }, field, report) => {
  const families = membersOf(ipFamilies);
  for (const [index, ip] of membersOf(clusterIPs).slice(0, families.length).entries()) {
    const family = parseAddress(ip)?.family;
    if (family !== undefined && family !== families[index])
      report(
        `${field}.${index === 0 ? 'clusterIP' : `clusterIPs[${index}]`}`,
        `${quote(ip)} is not of the family ${quote(families[index])} in spec.ipFamilies`,
      );
  }
};

export const singleStackIsSingle: Rule = ({ ipFamilyPolicy, clusterIPs, ipFamilies }, field, report) => {
  if (ipFamilyPolicy !== 'SingleStack') return;
  if (membersOf(clusterIPs).length < 2 && membersOf(ipFamilies).length < 2) return;
  report(`${field}.ipFamilyPolicy`, 'must be PreferDualStack or RequireDualStack for two families');
};

const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';

export const topologyAnnotations: Rule = ({ metadata }, _field, report) => {
  const { [TOPOLOGY_MODE]: mode, [TOPOLOGY_HINTS]: hints } = annotationsOf(metadata);
  if (mode !== undefined && hints !== undefined && mode !== hints)
    report(
      `metadata.annotations[${TOPOLOGY_MODE}]`,
      `${quote(mode)} is not the ${quote(hints)} of ${TOPOLOGY_HINTS}`,
    );
};

/** The annotation that was there before `spec.loadBalancerSourceRanges`, and counts without it. */
export const sourceRangesAnnotation: Rule = ({ metadata, spec }, _field, report) => {
  const ranges = annotationsOf(metadata)[SOURCE_RANGES];
  if (typeof ranges !== 'string' || !isObject(spec)) return;
  if (membersOf(spec.loadBalancerSourceRanges).length > 0) return;
  const field = `metadata.annotations[${SOURCE_RANGES}]`;
  if (spec.type !== 'LoadBalancer') report(field, 'goes with the type LoadBalancer only');
  if (ranges.trim() === '') return;
  for (const range of ranges.split(',')) {
    const wrong = cidr(range.trim());
    if (wrong !== undefined) report(field, `${quote(range.trim())} ${wrong}`);
  }
};

function annotationsOf(metadata: unknown): RawObject {
  const annotations = isObject(metadata) ? metadata.annotations : undefined;
  return isObject(annotations) ? annotations : {};
}
