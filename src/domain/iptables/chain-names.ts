import { hash } from 'node:crypto';
import { displayName, type ServicePortName } from '../model/service-port-name.js';

/** Chains that hold one entry for each service port, or rules of the node (docs/internals/spec/iptables.md §3). */
export const SERVICES = 'KUBE-SERVICES';
export const EXTERNAL_SERVICES = 'KUBE-EXTERNAL-SERVICES';
export const NODE_PORTS = 'KUBE-NODEPORTS';
export const PROXY_FIREWALL = 'KUBE-PROXY-FIREWALL';
export const FORWARD = 'KUBE-FORWARD';
export const POSTROUTING = 'KUBE-POSTROUTING';
export const MARK_MASQ = 'KUBE-MARK-MASQ';
/** Shared with the kubelet, and never removed. */
export const FIREWALL = 'KUBE-FIREWALL';
/** Empty. When it is gone, another program has flushed the tables. */
export const CANARY = 'KUBE-PROXY-CANARY';

/** Endpoint choice for the policy Cluster, and for Local; traffic from outside; the sources that may use a load balancer. */
export const SERVICE_CHAIN_KINDS = ['SVC', 'SVL', 'EXT', 'FW'] as const;
export type ServiceChainKind = (typeof SERVICE_CHAIN_KINDS)[number];

const SERVICE_CHAIN = /^KUBE-(?:SVC|SVL|FW|EXT|SEP)-/;

/** Whether a chain of table nat is one that service ports have, so that it is unexpected when no service port has it. */
export function isServiceChain(name: string): boolean {
  return SERVICE_CHAIN.test(name);
}

/** The names of a service port's chains. The hash depends on name, port name and protocol. */
export class ServiceChainNames {
  private readonly identity: string;
  private hash: string | undefined;

  constructor(name: ServicePortName) {
    this.identity = displayName(name) + name.protocol.toLowerCase();
  }

  of(kind: ServiceChainKind): string {
    this.hash ??= hashOf(this.identity);
    return `KUBE-${kind}-${this.hash}`;
  }

  /** @param endpoint `ip:port` */
  ofEndpoint(endpoint: string): string {
    return `KUBE-SEP-${hashOf(this.identity + endpoint)}`;
  }
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const HASH_LENGTH = 16;
const characters = new Array<number>(HASH_LENGTH).fill(0);

/** The first 16 characters of the Base32 (RFC 4648) of the text's SHA-256 (docs/internals/spec/iptables.md §8.2). */
function hashOf(text: string): string {
  // Much faster than a buffer for each digest, and than putting characters together one by one.
  const digest = hash('sha256', text, 'binary');
  for (let index = 0; index < HASH_LENGTH; index++) {
    const bit = index * 5;
    const window = (digest.charCodeAt(bit >> 3) << 8) | digest.charCodeAt((bit >> 3) + 1);
    characters[index] = BASE32.charCodeAt((window >> (11 - (bit & 7))) & 31);
  }
  return String.fromCharCode(...characters);
}
