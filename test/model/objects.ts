/** The parts of objects of the API that decide about packets, as the API server sends them. */

import type { Family } from './addresses.js';

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
}

export type Protocol = 'TCP' | 'UDP' | 'SCTP';

export interface ServicePortSpec {
  readonly name?: string;
  readonly protocol?: Protocol;
  readonly port: number;
  readonly nodePort?: number;
}

export interface Service {
  readonly metadata: Metadata;
  readonly spec: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly clusterIPs?: readonly string[];
    readonly ipFamilies?: readonly Family[];
    readonly ipFamilyPolicy?: string;
    readonly ports?: readonly ServicePortSpec[];
    readonly externalIPs?: readonly string[];
    readonly loadBalancerSourceRanges?: readonly string[];
    readonly internalTrafficPolicy?: string;
    readonly externalTrafficPolicy?: string;
    readonly healthCheckNodePort?: number;
    readonly sessionAffinity?: string;
    readonly sessionAffinityConfig?: { readonly clientIP?: { readonly timeoutSeconds?: number } };
  };
  readonly status?: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly ipMode?: string }[];
    };
  };
}

export interface EndpointSlice {
  readonly metadata: Metadata;
  readonly addressType: string;
  readonly ports?: readonly {
    readonly name?: string | null;
    readonly port?: number | null;
    readonly protocol?: Protocol | null;
  }[];
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions?: {
      readonly ready?: boolean | null;
      readonly serving?: boolean | null;
      readonly terminating?: boolean | null;
    };
    readonly nodeName?: string | null;
    readonly hints?: {
      readonly forZones?: readonly { readonly name: string }[];
      readonly forNodes?: readonly { readonly name: string }[];
    };
  }[];
}

/** The state of a cluster. */
export interface Cluster {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  /** Of all ServiceCIDRs. */
  readonly serviceCIDRs: readonly string[];
}

/** The node whose proxy is modeled. */
export interface Node {
  readonly name: string;
  /** Label `topology.kubernetes.io/zone`; empty: none. */
  readonly zone: string;
  /** Of the Node object. */
  readonly podCIDRs: readonly string[];
  /** `InternalIP`s of the Node object, which `primary` stands for. */
  readonly primaryAddresses: readonly string[];
  /** Of all its interfaces, without those that the proxy adds. */
  readonly localAddresses: readonly string[];
}

export type Mode = 'iptables' | 'ipvs' | 'nftables' | 'userspace';

/** The fields of the configuration that decide about packets, with kube-proxy's defaults where they are missing. */
export interface Configuration {
  readonly mode: Mode;
  readonly clusterCIDR?: string;
  readonly detectLocalMode?: string;
  readonly detectLocal?: { readonly bridgeInterface?: string; readonly interfaceNamePrefix?: string };
  readonly nodePortAddresses?: readonly string[];
  /** `masqueradeAll` for IPVS mode, too. */
  readonly iptables?: { readonly masqueradeAll?: boolean; readonly localhostNodePorts?: boolean };
  readonly nftables?: { readonly masqueradeAll?: boolean };
}

/** Who opens a connection: a program of the node, a pod of this node, or anybody else, who comes in through an interface. */
export interface Client {
  readonly kind: 'node' | 'pod' | 'outside';
  /** Of a program of the node, the address that its route chooses. */
  readonly source: string;
  /** Missing for a program of the node. */
  readonly inputInterface?: string;
}

/** Where a connection is opened to. */
export interface Destination {
  readonly address: string;
  readonly port: number;
  readonly protocol: Protocol;
}
