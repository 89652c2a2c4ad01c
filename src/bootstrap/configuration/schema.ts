import { USUAL_FRONTENDS_LIMIT } from '../../domain/decode/read-service.js';
import { field, fieldsWith, type ValuesOf, type WrittenOf } from './field.js';
import { featureGateHelp, USUAL_KUBERNETES_VERSION } from './releases.js';
import {
  bool,
  commaSeparated,
  duration,
  float,
  flushDuration,
  gateMap,
  int32,
  ip,
  ipPort,
  kubernetesVersion,
  optionalBool,
  optionalDuration,
  quantity,
  stringSlice,
  text,
  textOf,
  verbosityLevel,
  vmodule,
} from './value-types.js';

export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
export const KIND = 'KubeProxyConfiguration';

/** How services are programmed. Unset is iptables; `auto` is our own: nftables if the kernel supports it. */
export const PROXY_MODES = ['iptables', 'ipvs', 'nftables', 'userspace'] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];
export type RequestedMode = ProxyMode | 'auto' | '';

export const DETECT_LOCAL_MODES = [
  'ClusterCIDR',
  'NodeCIDR',
  'BridgeInterface',
  'InterfaceNamePrefix',
] as const;
export type DetectLocalMode = (typeof DETECT_LOCAL_MODES)[number];

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Five series for each service port. */
const TRAFFIC_SERIES = 1_000;
/** As in the last kube-proxy that had userspace mode. */
const IDLE_TIMEOUT = 250;

const own = fieldsWith({ besideFile: true, omitsDefault: true });
const logging = fieldsWith({ besideFile: true });
const ipvs = fieldsWith({ modes: ['ipvs'] });
const nftables = fieldsWith({ modes: ['nftables'] });
const userspace = fieldsWith({ modes: ['userspace'] });
const resynced = fieldsWith({ onEdit: 'resync' });
const windows = fieldsWith({ onEdit: 'none' });

const IPTABLES_AND_IPVS = { modes: ['iptables', 'ipvs'] };
const IPTABLES_AND_USERSPACE = { modes: ['iptables', 'userspace'] };

/* What fields of several modes have in common. */
const SYNC_PERIOD = {
  help: 'Least time between two full verifications of the rules.',
  default: 30 * SECOND,
  elsewhere: '0s',
  onEdit: 'at-once',
} as const;
const MIN_SYNC_PERIOD = { elsewhere: '0s', onEdit: 'at-once' } as const;
const MASQUERADE_BIT = {
  help: 'Bit of the packet mark that requests masquerading, 0 to 31.',
  default: 14,
  keepsZero: true,
  onEdit: 'resync',
} as const;
const MASQUERADE_ALL = {
  help: 'Masquerade all traffic sent to service IPs.',
  elsewhere: false,
  onEdit: 'resync',
} as const;

const ALPHA_LOGGING = 'Needs the feature gate LoggingAlphaOptions.';
const UNBUFFERED = 'Accepted without effect: every line is written immediately.';
const INTERFACE_NAMES =
  'At most 15 bytes, the limit of the kernel; a longer name, or one that no interface can have, is rejected.';
const WINDOWS_ONLY = 'No effect on Linux.';

/**
 * Every field of KubeProxyConfiguration v1alpha1 (docs/internals/spec/configuration.md §2 and §3) with its type, flag, meaning and default.
 * Decoding, defaults, `--help`, docs/configuration/README.md and the effect of edits are derived from this; validation.ts has the
 * rules that the values must keep.
 */
export const schema = {
  kubernetesVersion: own(kubernetesVersion, 'kubernetes-version', {
    help: 'Our own: the release of kube-proxy to behave as, where releases differ: feature gates, what is accepted, warnings. If it is not set, and the API server has 1.38 or a later release at the start, it is 1.38.',
    default: USUAL_KUBERNETES_VERSION,
    keepsZero: true,
  }),
  featureGates: field(gateMap, 'feature-gates', {
    help: `Feature gates to set, as Name=true|false. Known here: ${featureGateHelp}.`,
  }),
  clientConnection: {
    kubeconfig: field(text, 'kubeconfig', {
      help: 'Path to a kubeconfig file. Without it and without --master, the in-cluster configuration is used.',
    }),
    acceptContentTypes: field(text, '', {
      help:
        'Media types in which objects are requested, as an Accept header; empty: contentType, with JSON as fall-back. ' +
        'Types other than Kubernetes protobuf and JSON are ignored with a warning.',
    }),
    contentType: field(text, 'kube-api-content-type', {
      help: 'Media type in which objects are requested. What the proxy sends, events, is JSON in any case.',
      default: 'application/vnd.kubernetes.protobuf',
    }),
    qps: field(float, 'kube-api-qps', { help: 'API requests per second.', default: 5 }),
    burst: field(int32, 'kube-api-burst', {
      help: 'API requests allowed in a burst above the rate.',
      default: 10,
    }),
  },
  logging: {
    format: logging(text, 'logging-format', {
      help: 'Format of log lines: text or json.',
      default: 'text',
      onEdit: 'at-once',
    }),
    flushFrequency: logging(flushDuration, 'log-flush-frequency', {
      help: UNBUFFERED,
      default: 5 * SECOND,
      onEdit: 'none',
    }),
    verbosity: logging(verbosityLevel, 'v', {
      help: 'Log verbosity; higher numbers log more.',
      onEdit: 'at-once',
    }),
    vmodule: logging(vmodule, 'vmodule', {
      help: 'Accepted without effect: source files have other names here. Text format only.',
      onEdit: 'none',
      joinWithFile: (flag, file) => [...flag, ...file],
    }),
    options: { text: outputStream('text'), json: outputStream('json') },
  },
  hostnameOverride: field(text, 'hostname-override', {
    help: "Name of this node's Node object, if it is not the host name.",
    besideFile: true,
    joinWithFile: (flag, file) => flag || file,
  }),
  bindAddress: field(ip, 'bind-address', {
    help: "Replaces the node's primary IP, unless it is unspecified (0.0.0.0 or ::). Only userspace mode listens on it.",
    default: '0.0.0.0',
  }),
  healthzBindAddress: field(ipPort, 'healthz-bind-address', {
    help: 'IP and port of the health check server; a bare IP gets port 10256.',
    default: '0.0.0.0:10256',
  }),
  metricsBindAddress: field(ipPort, 'metrics-bind-address', {
    help: 'IP and port of the metrics server; a bare IP gets port 10249.',
    default: '127.0.0.1:10249',
  }),
  checkForwarding: own(bool, 'check-forwarding', {
    help:
      'Our own: every 10 s, open a connection through the rules of each IP family back to this program. After three failures in a ' +
      'row, /healthz and /readyz report a failure until a connection succeeds (docs/observing.md).',
    modes: ['iptables', 'ipvs', 'nftables'],
  }),
  bindAddressHardFail: field(bool, 'bind-address-hard-fail', {
    help: 'Treat a failure to bind to a port as fatal.',
  }),
  page: own(optionalBool, 'page', {
    help:
      'Serve a page for browsers at / of the metrics server; the page is read-only. Not configured: only if ' +
      'metricsBindAddress is a loopback address. Other clients than those over loopback also need debugRoutes.',
    keepsZero: true,
  }),
  debugRoutes: own(bool, 'debug-routes', {
    help:
      'Our own: all clients of the metrics server can use the page, and the reports about Services and rules at /debug. ' +
      'Otherwise only clients over loopback can. Profiles need --profiling.',
  }),
  enableProfiling: field(bool, 'profiling', { help: 'Serve profiles under /debug on the metrics server.' }),
  serviceTrafficMetrics: own(bool, 'service-traffic-metrics', {
    help: 'Our own: always count the connections of Services, and serve the counts as metrics.',
  }),
  serviceTrafficMetricsLimit: own(int32, 'service-traffic-metrics-limit', {
    help: 'Maximum number of service ports with separate series with --service-traffic-metrics; the others share one.',
    default: TRAFFIC_SERIES,
  }),
  ejectUnresponsiveEndpoints: own(bool, 'eject-unresponsive-endpoints', {
    help:
      'Our own: send no new connections to an endpoint for a while after three connections from this node got no answer ' +
      '(docs/behavior/failover.md). The annotation kube-proxy-ts/eject-unresponsive-endpoints of a Service overrides this: "true" or "false".',
  }),
  serviceFrontendsLimit: own(int32, 'service-frontends-limit', {
    help:
      'Our own: maximum number of frontends (ports times addresses, and node ports) of a Service; a Service with more is ' +
      'ignored like an invalid one. 0 means no limit.',
    default: USUAL_FRONTENDS_LIMIT,
    keepsZero: true,
  }),
  resetDeadConnections: own(bool, 'reset-dead-connections', {
    help:
      'Our own: reset established connections of TCP and SCTP within seconds when their endpoint is removed and does not answer. ' +
      'Otherwise clients wait for their own timeout. With a Service of SCTP this turns on packet accounting of ' +
      'connection tracking (nf_conntrack_acct).',
    default: true,
    keepsZero: true,
    modes: ['iptables', 'ipvs', 'nftables'],
  }),
  showHiddenMetricsForVersion: field(text, 'show-hidden-metrics-for-version', {
    help: 'Previous minor version, to show metrics that were hidden after it.',
  }),
  mode: field(textOf<RequestedMode>(), 'proxy-mode', {
    help: 'iptables (also if blank), ipvs, nftables, userspace, or auto: nftables if this kernel supports it, otherwise iptables.',
  }),
  /** Also for what kube-proxy takes from there in IPVS mode. */
  iptables: {
    masqueradeBit: field(int32, 'iptables-masquerade-bit', {
      ...MASQUERADE_BIT,
      ...IPTABLES_AND_IPVS,
    }),
    masqueradeAll: field(bool, 'masquerade-all', {
      ...MASQUERADE_ALL,
      ...IPTABLES_AND_IPVS,
    }),
    localhostNodePorts: field(bool, 'iptables-localhost-nodeports', {
      help: 'Accept node port traffic on IPv4 loopback addresses.',
      default: true,
      keepsZero: true,
      modes: ['iptables'],
    }),
    syncPeriod: field(duration, 'iptables-sync-period', {
      ...SYNC_PERIOD,
      ...IPTABLES_AND_USERSPACE,
    }),
    minSyncPeriod: field(duration, 'iptables-min-sync-period', {
      help: 'Minimum time between two writes of rules; 0 writes each change immediately.',
      ...MIN_SYNC_PERIOD,
      ...IPTABLES_AND_USERSPACE,
      default: SECOND,
    }),
  },
  ipvs: {
    syncPeriod: ipvs(duration, 'ipvs-sync-period', SYNC_PERIOD),
    minSyncPeriod: ipvs(duration, 'ipvs-min-sync-period', {
      help: 'Minimum time between two writes of rules.',
      ...MIN_SYNC_PERIOD,
      flagDefault: SECOND,
    }),
    scheduler: ipvs(text, 'ipvs-scheduler', { help: 'IPVS scheduler; blank means rr.' }),
    excludeCIDRs: ipvs(stringSlice, 'ipvs-exclude-cidrs', {
      help: 'CIDRs whose IPVS virtual servers are not touched when cleaning up.',
    }),
    strictARP: ipvs(bool, 'ipvs-strict-arp', { help: 'Set arp_ignore to 1 and arp_announce to 2.' }),
    tcpTimeout: ipvs(duration, 'ipvs-tcp-timeout', { help: timeoutHelp('idle IPVS TCP connections') }),
    tcpFinTimeout: ipvs(duration, 'ipvs-tcpfin-timeout', {
      help: timeoutHelp('IPVS TCP connections after a FIN'),
    }),
    udpTimeout: ipvs(duration, 'ipvs-udp-timeout', { help: timeoutHelp('IPVS UDP packets') }),
  },
  /** Some have no flag of their own and follow those of iptables. */
  nftables: {
    masqueradeBit: nftables(int32, '', MASQUERADE_BIT),
    masqueradeAll: nftables(bool, 'masquerade-all', MASQUERADE_ALL),
    syncPeriod: nftables(duration, 'iptables-sync-period', SYNC_PERIOD),
    minSyncPeriod: nftables(optionalDuration('1s'), 'iptables-min-sync-period', {
      help: 'Minimum time between two writes of rules; if unset, each change is written immediately.',
      ...MIN_SYNC_PERIOD,
    }),
  },
  winkernel: {
    networkName: windows(text, '', { help: WINDOWS_ONLY }),
    sourceVip: windows(text, '', { help: WINDOWS_ONLY }),
    rootHnsEndpointName: windows(text, '', { help: WINDOWS_ONLY }),
    enableDSR: windows(bool, '', { help: WINDOWS_ONLY }),
    forwardHealthCheckVip: windows(bool, '', { help: WINDOWS_ONLY }),
  },
  detectLocalMode: resynced(textOf<DetectLocalMode>(), 'detect-local-mode', {
    help: `How to detect traffic from local pods: ${DETECT_LOCAL_MODES.join(', ')}; blank means ClusterCIDR.`,
  }),
  detectLocal: {
    bridgeInterface: resynced(text, 'pod-bridge-interface', {
      help: `Bridge that local pods are connected to, with --detect-local-mode=BridgeInterface. ${INTERFACE_NAMES}`,
    }),
    interfaceNamePrefix: resynced(text, 'pod-interface-name-prefix', {
      help: `Prefix of the interface names of local pods, with --detect-local-mode=InterfaceNamePrefix. ${INTERFACE_NAMES}`,
    }),
  },
  clusterCIDR: resynced(commaSeparated, 'cluster-cidr', {
    help: "CIDR of the cluster's pods, or a comma-separated pair of one IPv4 and one IPv6 CIDR.",
  }),
  nodePortAddresses: resynced(stringSlice, 'nodeport-addresses', {
    help:
      'CIDRs of the local addresses that accept node port traffic, and keywords: primary (the node IPs), localhost (127.0.0.0/8 and ::1), all. ' +
      'A family without an entry accepts it on all its addresses. Unset means primary in nftables mode, all in the others. ' +
      'Loopback addresses apply to iptables mode with IPv4, to nftables mode with TCP and the feature gate ' +
      'KubeProxyNFTablesLocalhostNodePorts, and to health checks.',
  }),
  oomScoreAdj: field(int32, 'oom-score-adj', {
    help: 'oom_score_adj value of this process, -1000 to 1000.',
    default: -999,
    keepsZero: true,
  }),
  conntrack: {
    maxPerCore: field(int32, 'conntrack-max-per-core', {
      help: 'Maximum number of tracked connections per CPU; 0 keeps the current limit.',
      default: 32768,
      keepsZero: true,
    }),
    min: field(int32, 'conntrack-min', {
      help: 'Minimum limit of tracked connections, for any number of CPUs.',
      default: 131072,
      keepsZero: true,
    }),
    tcpEstablishedTimeout: field(duration, 'conntrack-tcp-timeout-established', {
      help: timeoutHelp('idle TCP connections'),
      default: 24 * HOUR,
      keepsZero: true,
    }),
    tcpCloseWaitTimeout: field(duration, 'conntrack-tcp-timeout-close-wait', {
      help: timeoutHelp('TCP connections in CLOSE_WAIT'),
      default: HOUR,
      keepsZero: true,
    }),
    tcpBeLiberal: field(bool, 'conntrack-tcp-be-liberal', {
      help: 'Do not mark TCP packets outside the window as invalid.',
    }),
    udpTimeout: field(duration, 'conntrack-udp-timeout', { help: timeoutHelp('unanswered UDP flows') }),
    udpStreamTimeout: field(duration, 'conntrack-udp-timeout-stream', {
      help: timeoutHelp('answered UDP flows'),
    }),
  },
  configSyncPeriod: field(duration, 'config-sync-period', {
    help: 'Accepted without effect: objects are watched, not polled.',
    default: 15 * MINUTE,
    onEdit: 'none',
  }),
  portRange: userspace(text, 'proxy-port-range', {
    help: 'Ports that the proxy may listen on: N, LOW-HIGH or LOW+OFFSET; blank lets the kernel choose.',
  }),
  udpIdleTimeout: userspace(duration, 'udp-timeout', {
    help: 'How long an idle UDP flow keeps its endpoint.',
    default: IDLE_TIMEOUT,
    omitsDefault: true,
  }),
  windowsRunAsService: windows(bool, '', { help: WINDOWS_ONLY, omitsDefault: true }),
};

/** The configuration as the file nests it; durations are milliseconds, `clusterCIDR` is the list of its CIDRs. */
export type Configuration = ValuesOf<typeof schema>;

/**
 * The configuration as a file has it (docs/configuration/README.md): durations are text such as `30s`, and missing fields have their
 * defaults.
 */
export type KubeProxyConfiguration = WrittenOf<typeof schema> & {
  readonly apiVersion?: typeof API_VERSION;
  readonly kind?: typeof KIND;
};

function outputStream(format: string) {
  return {
    splitStream: logging(bool, `log-${format}-split-stream`, {
      help: `In ${format} format, write informational lines to stdout. ${ALPHA_LOGGING}`,
      onEdit: 'at-once',
      omitsDefault: true,
    }),
    infoBufferSize: logging(quantity, `log-${format}-info-buffer-size`, {
      help: `${UNBUFFERED} ${ALPHA_LOGGING}`,
      onEdit: 'none',
    }),
  };
}

function timeoutHelp(of: string): string {
  return `Timeout of ${of}; 0 keeps the kernel's.`;
}
