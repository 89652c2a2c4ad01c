import { parseAddress } from '../net/address.js';
import { parseCidr } from '../net/cidr.js';
import { IP_FAMILIES, type IpFamily } from '../net/ip-family.js';
import type { LocalTrafficSettings } from './local-traffic-detector.js';

/** The settings and Node fields whose address families must agree. CIDRs and addresses are text. */
export interface FamilyFacts {
  readonly primaryFamily: IpFamily;
  /** The families that this machine can serve. */
  readonly supported: readonly IpFamily[];
  readonly detectLocalMode: LocalTrafficSettings['mode'];
  readonly clusterCIDRs: readonly string[];
  /** Of the Node. */
  readonly podCIDRs: readonly string[];
  /** With keywords replaced. */
  readonly nodePortAddresses: readonly string[];
  readonly excludeCIDRs: readonly string[];
  readonly sourceVip: string;
  /** Without ports; "" when nothing listens. */
  readonly healthzAddress: string;
  readonly metricsAddress: string;
}

/** Settings with the wrong address family. */
export interface FamilyProblems {
  readonly problems: readonly string[];
  /** The proxy would do the wrong thing, so it must exit. */
  readonly fatal: boolean;
}

/** A warning about the addresses of node ports; undefined when there is none (docs/internals/spec/server.md §5.1). */
export function nodePortWarning(facts: FamilyFacts): string | undefined {
  const { nodePortAddresses: list, primaryFamily: primary } = facts;
  const other = otherFamily(primary);
  if (list.length === 0)
    return 'nodePortAddresses is unset; NodePort connections will be accepted on all local IPs. Consider using `--nodeport-addresses primary`';
  const ofPrimary = list.filter((text) => familyOf(text) === primary).length;
  if (ofPrimary === list.length && looksDualStack(facts))
    return `cluster appears to be dual-stack but nodePortAddresses contains only ${primary} addresses; NodePort connections will be accepted on all local ${other} IPs`;
  if (ofPrimary === 0)
    return `cluster appears to be ${primary}-primary but nodePortAddresses contains only ${other} addresses; NodePort connections will be accepted on all local ${primary} IPs`;
  return undefined;
}

/** Traffic of local pods that the settings do not define: what kube-proxy logs, and the effect. */
export interface LocalTrafficWarning {
  /** In kube-proxy's words. */
  readonly message: string;
  readonly problem: string;
}

/** Undefined when the settings define the local traffic of the primary family (docs/internals/spec/model.md §6). */
export function localTrafficWarning(facts: FamilyFacts): LocalTrafficWarning | undefined {
  const { detectLocalMode: mode, primaryFamily: primary } = facts;
  const lacks = (list: readonly string[]): boolean => !list.some((text) => familyOf(text) === primary);
  const effect =
    'traffic of pods cannot be distinguished from traffic from outside the cluster, which is not masqueraded on its way to cluster IPs';
  if (mode === 'ClusterCIDR' && lacks(facts.clusterCIDRs))
    return {
      message: 'Detect-local-mode set to ClusterCIDR, but no cluster CIDR specified for primary IP family',
      problem: `detectLocalMode is ClusterCIDR, but no cluster CIDR is defined for ${primary}: ${effect}; set --cluster-cidr (clusterCIDR)`,
    };
  if (mode === 'NodeCIDR' && lacks(facts.podCIDRs))
    return {
      message: 'Detect-local-mode set to NodeCIDR, but no PodCIDR defined at node for primary IP family',
      problem: `detectLocalMode is NodeCIDR, but the Node object has no podCIDR of ${primary}: ${effect}; set spec.podCIDRs of the Node`,
    };
  return undefined;
}

/** Why the primary family is not supported; undefined when it is (docs/internals/spec/server.md §5.2). */
export function unsupportedPrimary({ primaryFamily, supported }: FamilyFacts): string | undefined {
  return supported.includes(primaryFamily)
    ? undefined
    : `no support for primary IP family "${primaryFamily}"`;
}

/** Settings that contain only the wrong family (docs/internals/spec/server.md §5.3). */
export function familyProblems(facts: FamilyFacts): FamilyProblems {
  const { primaryFamily: primary, detectLocalMode, supported } = facts;
  const dualStack = supported.length === IP_FAMILIES.length;
  const wrong = otherFamily(primary);
  const cluster = `cluster is ${primary}-${dualStack ? 'primary' : 'only'}`;
  const allWrong = (list: readonly string[]): boolean =>
    list.length > 0 && list.every((text) => familyOf(text) === wrong);
  const problems: string[] = [];
  const only = (name: string) => problems.push(`${cluster} but ${name} contains only ${wrong} addresses`);
  const is = (name: string) => problems.push(`${cluster} but ${name} is ${wrong}`);

  const clusterCIDRs = allWrong(facts.clusterCIDRs);
  const podCIDRs = allWrong(facts.podCIDRs);
  if (clusterCIDRs) only('clusterCIDRs');
  if (podCIDRs) only('node.spec.podCIDRs');
  if (familyOf(facts.sourceVip) === wrong) is('winkernel.sourceVip');
  if (!dualStack) {
    if (allWrong(facts.excludeCIDRs)) only('ipvs.excludeCIDRs');
    if (familyOfSpecified(facts.healthzAddress) === wrong) is('healthzBindAddress');
    if (familyOfSpecified(facts.metricsAddress) === wrong) is('metricsBindAddress');
  }
  const fatal =
    (clusterCIDRs && detectLocalMode === 'ClusterCIDR' && !dualStack) ||
    (podCIDRs && detectLocalMode === 'NodeCIDR');
  return { problems, fatal };
}

/** Whether any of the lists has both families. */
function looksDualStack({ clusterCIDRs, nodePortAddresses, excludeCIDRs, podCIDRs }: FamilyFacts): boolean {
  return [clusterCIDRs, nodePortAddresses, excludeCIDRs, podCIDRs].some((list) =>
    IP_FAMILIES.every((family) => list.some((text) => familyOf(text) === family)),
  );
}

function otherFamily(family: IpFamily): IpFamily {
  return family === 'IPv4' ? 'IPv6' : 'IPv4';
}

/** The family of an address or CIDR; undefined when the text is neither. */
function familyOf(text: string): IpFamily | undefined {
  return (parseCidr(text) ?? parseAddress(text))?.family;
}

/** Undefined for `0.0.0.0` and `::`, which mean all addresses of both families. */
function familyOfSpecified(text: string): IpFamily | undefined {
  return text === '0.0.0.0' || text === '::' ? undefined : familyOf(text);
}
