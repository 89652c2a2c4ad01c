import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ExpectedFrontend } from '../checks/expected-ports.js';
import type { ServedPort } from './served-port.js';

type Kind = 'hash:ip,port,ip' | 'hash:ip,port' | 'hash:ip,port,net' | 'hash:ip' | 'bitmap:port';

const LONGEST_NAME = 31;

/** The sets of mode ipvs with the comments of the rules that look into them, in kube-proxy's order (docs/spec/ipvs.md §5). */
const SETS = {
  'LOOP-BACK': ['hash:ip,port,ip', 'Kubernetes endpoints dst ip:port, source ip for solving hairpin purpose'],
  'CLUSTER-IP': ['hash:ip,port', 'Kubernetes service cluster ip + port for masquerade purpose'],
  'EXTERNAL-IP': ['hash:ip,port', 'Kubernetes service external ip + port for masquerade and filter purpose'],
  'EXTERNAL-IP-LOCAL': [
    'hash:ip,port',
    'Kubernetes service external ip + port with externalTrafficPolicy=local',
  ],
  'LOAD-BALANCER': ['hash:ip,port', 'Kubernetes service lb portal'],
  'LOAD-BALANCER-FW': [
    'hash:ip,port',
    'Kubernetes service load balancer ip + port for load balancer with sourceRange',
  ],
  'LOAD-BALANCER-LOCAL': [
    'hash:ip,port',
    'Kubernetes service load balancer ip + port with externalTrafficPolicy=local',
  ],
  'LOAD-BALANCER-SOURCE-IP': [
    'hash:ip,port,ip',
    'Kubernetes service load balancer ip + port + source IP for packet filter purpose',
  ],
  'LOAD-BALANCER-SOURCE-CIDR': [
    'hash:ip,port,net',
    'Kubernetes service load balancer ip + port + source cidr for packet filter purpose',
  ],
  'NODE-PORT-TCP': ['bitmap:port', 'Kubernetes nodeport TCP port for masquerade purpose'],
  'NODE-PORT-LOCAL-TCP': ['bitmap:port', 'Kubernetes nodeport TCP port with externalTrafficPolicy=local'],
  'NODE-PORT-UDP': ['bitmap:port', 'Kubernetes nodeport UDP port for masquerade purpose'],
  'NODE-PORT-LOCAL-UDP': ['bitmap:port', 'Kubernetes nodeport UDP port with externalTrafficPolicy=local'],
  'NODE-PORT-SCTP-HASH': [
    'hash:ip,port',
    "Kubernetes nodeport SCTP port for masquerade purpose with type 'hash ip:port'",
  ],
  'NODE-PORT-LOCAL-SCTP-HASH': [
    'hash:ip,port',
    "Kubernetes nodeport SCTP port with externalTrafficPolicy=local with type 'hash ip:port'",
  ],
  'HEALTH-CHECK-NODE-PORT': ['bitmap:port', 'Kubernetes health check node port'],
  'IPVS-IPS': ['hash:ip', 'Addresses on the ipvs interface'],
} as const satisfies Readonly<Record<string, readonly [Kind, string]>>;

/** Without `KUBE-`. */
export type SetName = keyof typeof SETS;

const SET_NAMES = Object.keys(SETS) as readonly SetName[];

/** A set as the kernel has it. */
export interface NamedSet {
  readonly name: string;
  /** What `ipset create` is told behind the name. */
  readonly creation: readonly string[];
  readonly comment: string;
  readonly members: Set<string>;
}

/** All sets of a family, with what is to be in them. */
export class IpvsSets {
  private readonly sets: ReadonlyMap<SetName, NamedSet>;

  constructor(private readonly family: IpFamily) {
    this.sets = new Map(SET_NAMES.map((name) => [name, this.made(name)]));
  }

  get all(): Iterable<NamedSet> {
    return this.sets.values();
  }

  get(name: SetName): NamedSet {
    return this.sets.get(name)!;
  }

  /** What one port puts into them. @param nodeAddresses those that node ports are served at */
  add(port: ServedPort, nodeAddresses: readonly string[]): void {
    const { protocol, externalPolicyLocal, sourceRanges } = port;
    const put = (name: SetName, member: string | number) => this.get(name).members.add(String(member));
    const at = ({ address, port: number }: ExpectedFrontend) => `${address},${protocol}:${number}`;
    for (const { address, port: number, local } of port.known)
      if (local) put('LOOP-BACK', `${address},${protocol}:${number},${address}`);
    for (const frontend of port.frontends)
      switch (frontend.kind) {
        case 'cluster-ip':
          put('CLUSTER-IP', at(frontend));
          break;
        case 'external-ip':
          put(externalPolicyLocal ? 'EXTERNAL-IP-LOCAL' : 'EXTERNAL-IP', at(frontend));
          break;
        case 'load-balancer-ip':
          put('LOAD-BALANCER', at(frontend));
          if (externalPolicyLocal) put('LOAD-BALANCER-LOCAL', at(frontend));
          if (sourceRanges.length > 0) put('LOAD-BALANCER-FW', at(frontend));
          for (const range of sourceRanges) put('LOAD-BALANCER-SOURCE-CIDR', `${at(frontend)},${range}`);
          break;
        case 'node-port':
          for (const name of nodePortSets(protocol, externalPolicyLocal))
            if (protocol !== 'sctp') put(name, frontend.port);
            else for (const address of nodeAddresses) put(name, at({ ...frontend, address }));
      }
    if (port.healthCheckNodePort > 0) put('HEALTH-CHECK-NODE-PORT', port.healthCheckNodePort);
  }

  private made(name: SetName): NamedSet {
    const [kind, comment] = SETS[name];
    const prefix = this.family === 'IPv4' ? 'KUBE-' : 'KUBE-6-';
    const family = this.family === 'IPv4' ? 'inet' : 'inet6';
    const creation =
      kind === 'bitmap:port'
        ? [kind, 'range', '0-65535']
        : [kind, 'family', family, 'hashsize', '1024', 'maxelem', '65536'];
    return { name: `${prefix}${name}`.slice(0, LONGEST_NAME), creation, comment, members: new Set() };
  }
}

function nodePortSets(protocol: string, isLocal: boolean): readonly SetName[] {
  const name = `${protocol.toUpperCase()}${protocol === 'sctp' ? '-HASH' : ''}` as
    | 'TCP'
    | 'UDP'
    | 'SCTP-HASH';
  return [`NODE-PORT-${name}`, ...(isLocal ? [`NODE-PORT-LOCAL-${name}` as const] : [])];
}
