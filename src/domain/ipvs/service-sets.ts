import type { IpSetHeader, IpSetType } from './ip-set.js';
import type { IpFamily } from '../net/ip-family.js';

/** A set that rules match against, the same in both families but for its name. */
interface ServiceSetKind {
  readonly type: IpSetType;
  /** The comment of the rules that match against it. */
  readonly comment: string;
}

/**
 * The sets of IPVS mode, by their IPv4 names (docs/internals/spec/ipvs.md §5). Members are added in this order,
 * what lets traffic through before what stops the rest, and deleted in the reverse order.
 */
const KINDS = {
  'KUBE-LOOP-BACK': {
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose',
  },
  'KUBE-CLUSTER-IP': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service cluster ip + port for masquerade purpose',
  },
  'KUBE-EXTERNAL-IP-LOCAL': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port with externalTrafficPolicy=local',
  },
  'KUBE-EXTERNAL-IP': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service external ip + port for masquerade and filter purpose',
  },
  'KUBE-LOAD-BALANCER-LOCAL': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
  },
  'KUBE-LOAD-BALANCER': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service lb portal',
  },
  'KUBE-LOAD-BALANCER-SOURCE-CIDR': {
    type: 'hash:ip,port,net',
    comment: 'Kubernetes service load balancer ip + port + source cidr for packet filter purpose',
  },
  'KUBE-LOAD-BALANCER-SOURCE-IP': {
    type: 'hash:ip,port,ip',
    comment: 'Kubernetes service load balancer ip + port + source IP for packet filter purpose',
  },
  'KUBE-NODE-PORT-LOCAL-TCP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port with externalTrafficPolicy=local',
  },
  'KUBE-NODE-PORT-TCP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport TCP port for masquerade purpose',
  },
  'KUBE-NODE-PORT-LOCAL-UDP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port with externalTrafficPolicy=local',
  },
  'KUBE-NODE-PORT-UDP': {
    type: 'bitmap:port',
    comment: 'Kubernetes nodeport UDP port for masquerade purpose',
  },
  'KUBE-NODE-PORT-LOCAL-SCTP-HASH': {
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'",
  },
  'KUBE-NODE-PORT-SCTP-HASH': {
    type: 'hash:ip,port',
    comment: "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
  },
  'KUBE-HEALTH-CHECK-NODE-PORT': {
    type: 'bitmap:port',
    comment: 'Kubernetes health check node port',
  },
  'KUBE-IPVS-IPS': {
    type: 'hash:ip',
    comment: 'Addresses on the ipvs interface',
  },
  'KUBE-LOAD-BALANCER-FW': {
    type: 'hash:ip,port',
    comment: 'Kubernetes service load balancer ip + port for load balancer with sourceRange',
  },
} as const satisfies Record<string, ServiceSetKind>;

/** The IPv4 name of a set. */
export type ServiceSet = keyof typeof KINDS;

export const SERVICE_SETS = Object.keys(KINDS) as readonly ServiceSet[];

/** IPSET_MAXNAMELEN, less the final zero. */
const LONGEST_NAME = 31;

/** The kernel's name of the set in that family. */
export function setName(set: ServiceSet, family: IpFamily): string {
  return family === 'IPv4' ? set : set.replace('KUBE-', 'KUBE-6-').slice(0, LONGEST_NAME);
}

export function setHeader(set: ServiceSet, family: IpFamily): IpSetHeader {
  return { name: setName(set, family), type: KINDS[set].type, family };
}

export function setComment(set: ServiceSet): string {
  return KINDS[set].comment;
}

/** The set of a member that comes after the name of its set. */
export function setOf(member: `${ServiceSet} ${string}`): ServiceSet {
  return member.slice(0, member.indexOf(' ')) as ServiceSet;
}

/** As the set itself has it. */
export function withoutSet(member: `${ServiceSet} ${string}`): string {
  return member.slice(member.indexOf(' ') + 1);
}
