import { EXTERNAL_IPS_END } from '../../domain/validation/doubts.js';

/** Every minor release of Kubernetes that the program can behave as. */
export const KUBERNETES_VERSIONS = ['1.36', '1.37', '1.38'] as const;
export type KubernetesVersion = (typeof KUBERNETES_VERSIONS)[number];
/** The one that counts unless another is asked for. */
export const USUAL_KUBERNETES_VERSION: KubernetesVersion = '1.37';

/** The feature gates whose stages depend on the release. */
export type ChangingGate =
  | 'KubeProxyIPVS'
  | 'KubeProxyNFTablesLocalhostNodePorts'
  | 'NativeHistograms'
  | 'NFTablesNetlink'
  | 'RelaxedServiceNameValidation';

/** The stage and the default of a feature gate in one release. */
export interface GateStage {
  readonly stage: 'alpha' | 'beta' | 'GA' | 'deprecated';
  readonly default: boolean;
  /** The gate cannot be changed. */
  readonly locked?: true;
}

/** What depends on the release (docs/spec/changes-1.37.md). */
interface Level {
  /** Without those that the release does not know. */
  readonly gates: Readonly<Partial<Record<ChangingGate, GateStage>>>;
  /** What `nodePortAddresses` may hold: CIDRs or else `primary`, or both and further keywords. */
  readonly nodePortAddresses: 'primary or CIDRs' | 'any mix';
  /** Logged in mode nftables of loopback addresses among them; missing: nothing. */
  readonly loopbackInNftables?: string;
  /** What people are told of mode ipvs. */
  readonly ipvsEnds: string;
  /** What they are told of external IPs. */
  readonly externalIPsEnd: string;
  /** What they are told if they have chosen no mode; missing: nothing. */
  readonly modeUnset?: string;
}

const ALPHA_OFF: GateStage = { stage: 'alpha', default: false };
const BETA_ON: GateStage = { stage: 'beta', default: true };

const SINCE_1_37: Level = {
  externalIPsEnd: EXTERNAL_IPS_END,
  nodePortAddresses: 'any mix',
  ipvsEnds:
    'The ipvs proxier has been deprecated and will be disabled by default in Kubernetes 1.40 and removed in Kubernetes 1.43. ' +
    "Migrate to the 'nftables' proxier instead.",
  // kube-proxy's own words are not known.
  modeUnset:
    'No proxy mode is configured, which means iptables, but nftables from Kubernetes 1.40 on. Set --proxy-mode to nftables, or to ' +
    'iptables to stay with it.',
  gates: {
    KubeProxyIPVS: { stage: 'deprecated', default: true },
    KubeProxyNFTablesLocalhostNodePorts: ALPHA_OFF,
    NativeHistograms: BETA_ON,
    NFTablesNetlink: BETA_ON,
    RelaxedServiceNameValidation: { stage: 'GA', default: true, locked: true },
  },
};

export const LEVELS: Readonly<Record<KubernetesVersion, Level>> = {
  '1.36': {
    externalIPsEnd: EXTERNAL_IPS_END,
    gates: { NativeHistograms: ALPHA_OFF, RelaxedServiceNameValidation: BETA_ON },
    nodePortAddresses: 'primary or CIDRs',
    ipvsEnds:
      "The ipvs proxier is now deprecated and may be removed in a future release. Please use 'nftables' instead.",
    loopbackInNftables: '--nodeport-addresses includes localhost but localhost NodePorts are not supported',
  },
  '1.37': SINCE_1_37,
  '1.38': {
    ...SINCE_1_37,
    gates: { ...SINCE_1_37.gates, KubeProxyNFTablesLocalhostNodePorts: BETA_ON },
  },
};
