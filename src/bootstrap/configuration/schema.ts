import { ip, ipPort } from './address-types.js';
import { featureGateHelp } from './feature-gates.js';
import { field, type ValuesOf } from './field.js';
import { commaSeparated, gateMap, stringSlice, vmodule } from './list-types.js';
import {
  bool,
  boolOrNothing,
  duration,
  float,
  flushDuration,
  int32,
  optionalDuration,
  quantity,
  text,
  textOf,
  verbosityLevel,
} from './scalar-types.js';

export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
export const KIND = 'KubeProxyConfiguration';

/** How services are programmed. `auto` is our own: the best that the kernel offers, as is `""` for now. */
export type ProxyMode = 'iptables' | 'ipvs' | 'nftables';
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

const WINDOWS_ONLY = 'No effect on Linux.';
const ALPHA_LOGGING = 'Needs the feature gate LoggingAlphaOptions.';

const outputStream = (format: string) => ({
  splitStream: field(boolOrNothing, {
    flag: `log-${format}-split-stream`,
    help: `In ${format} format, write informational lines to stdout. ${ALPHA_LOGGING}`,
    besideFile: true,
  }),
  infoBufferSize: field(quantity, {
    flag: `log-${format}-info-buffer-size`,
    help: `In ${format} format with split streams, buffer that many bytes of informational lines. ${ALPHA_LOGGING}`,
    besideFile: true,
  }),
});

/**
 * Every field of KubeProxyConfiguration v1alpha1 (spec/configuration.md §2 and §3) with its type, default, flag and
 * meaning. Decoding, defaulting and `--help` are derived from this; validation.ts says what must hold between values.
 */
export const schema = {
  featureGates: field(gateMap, {
    flag: 'feature-gates',
    help: `Feature gates to set, as Name=true|false: ${featureGateHelp}.`,
  }),
  clientConnection: {
    kubeconfig: field(text, {
      flag: 'kubeconfig',
      help: 'Path to a kubeconfig file. Without it and without --master, the in-cluster configuration is used.',
    }),
    acceptContentTypes: field(text, { help: 'Accept header of API requests.' }),
    contentType: field(text, {
      default: 'application/vnd.kubernetes.protobuf',
      flag: 'kube-api-content-type',
      help: 'Content type of API requests.',
    }),
    qps: field(float, { default: 5, flag: 'kube-api-qps', help: 'API requests per second.' }),
    burst: field(int32, {
      default: 10,
      flag: 'kube-api-burst',
      help: 'API requests allowed at once beyond the rate.',
    }),
  },
  logging: {
    format: field(text, {
      default: 'text',
      flag: 'logging-format',
      help: 'Format of log lines: text or json.',
      besideFile: true,
    }),
    flushFrequency: field(flushDuration, {
      default: 5 * SECOND,
      flag: 'log-flush-frequency',
      help: 'Longest time between two flushes of the log.',
      besideFile: true,
    }),
    verbosity: field(verbosityLevel, {
      flag: 'v',
      help: 'Log verbosity: more with higher numbers.',
      besideFile: true,
    }),
    vmodule: field(vmodule, {
      flag: 'vmodule',
      help: 'Verbosity for single source files, by pattern. Text format only.',
      besideFile: true,
      joinWithFile: (flag, file) => [...flag, ...file],
    }),
    options: { text: outputStream('text'), json: outputStream('json') },
  },
  hostnameOverride: field(text, {
    flag: 'hostname-override',
    help: 'Name of the Node this runs on, instead of the host name.',
    besideFile: true,
    joinWithFile: (flag, file) => flag || file,
  }),
  bindAddress: field(ip, {
    default: '0.0.0.0',
    flag: 'bind-address',
    help: "Overrides the node's primary IP unless it is unspecified. Nothing listens on it.",
  }),
  healthzBindAddress: field(ipPort, {
    default: '0.0.0.0:10256',
    flag: 'healthz-bind-address',
    help: 'IP and port of the health check server; a bare IP gets port 10256.',
  }),
  metricsBindAddress: field(ipPort, {
    default: '127.0.0.1:10249',
    flag: 'metrics-bind-address',
    help: 'IP and port of the metrics server; a bare IP gets port 10249.',
  }),
  bindAddressHardFail: field(bool, {
    flag: 'bind-address-hard-fail',
    help: 'Treat a failure to bind to a port as fatal.',
  }),
  enableProfiling: field(bool, {
    flag: 'profiling',
    help: 'Serve profiles under /debug on the metrics server.',
  }),
  showHiddenMetricsForVersion: field(text, {
    flag: 'show-hidden-metrics-for-version',
    help: 'The previous minor version, to show the metrics that are hidden since.',
  }),
  mode: field(textOf<RequestedMode>(), {
    flag: 'proxy-mode',
    help: 'iptables, which blank means as well; ipvs; nftables; or auto: nftables where this kernel has it.',
  }),
  iptables: {
    masqueradeBit: field(int32, {
      default: 14,
      keepsZero: true,
      flag: 'iptables-masquerade-bit',
      modes: ['iptables', 'ipvs'],
      help: 'Bit of the packet mark that asks for masquerading, in modes iptables and ipvs: 0 to 31.',
    }),
    masqueradeAll: field(bool, {
      flag: 'masquerade-all',
      modes: ['iptables', 'ipvs'],
      elsewhere: false,
      help: 'Masquerade everything sent to service IPs, in any mode.',
    }),
    localhostNodePorts: field(bool, {
      default: true,
      keepsZero: true,
      flag: 'iptables-localhost-nodeports',
      modes: ['iptables'],
      help: 'Node ports answer on IPv4 loopback addresses, in mode iptables.',
    }),
    syncPeriod: field(duration, {
      default: 30 * SECOND,
      flag: 'iptables-sync-period',
      modes: ['iptables'],
      elsewhere: '0s',
      help: 'Time between two full verifications of the rules, in modes iptables and nftables.',
    }),
    minSyncPeriod: field(duration, {
      default: SECOND,
      flag: 'iptables-min-sync-period',
      modes: ['iptables'],
      elsewhere: '0s',
      help: 'Shortest time between two writes of rules, in modes iptables and nftables; 0 writes each change at once.',
    }),
  },
  ipvs: {
    syncPeriod: field(duration, {
      default: 30 * SECOND,
      flag: 'ipvs-sync-period',
      modes: ['ipvs'],
      elsewhere: '0s',
      help: 'Time between two full verifications of the rules, in mode ipvs.',
    }),
    minSyncPeriod: field(duration, {
      flagDefault: SECOND,
      flag: 'ipvs-min-sync-period',
      modes: ['ipvs'],
      elsewhere: '0s',
      help: 'Shortest time between two writes of rules, in mode ipvs.',
    }),
    scheduler: field(text, {
      flag: 'ipvs-scheduler',
      modes: ['ipvs'],
      help: 'IPVS scheduler; blank means rr.',
    }),
    excludeCIDRs: field(stringSlice, {
      flag: 'ipvs-exclude-cidrs',
      modes: ['ipvs'],
      help: 'CIDRs whose IPVS services are not touched when cleaning up.',
    }),
    strictARP: field(bool, {
      flag: 'ipvs-strict-arp',
      modes: ['ipvs'],
      help: 'Set arp_ignore to 1 and arp_announce to 2.',
    }),
    tcpTimeout: field(duration, {
      flag: 'ipvs-tcp-timeout',
      modes: ['ipvs'],
      help: "Timeout of idle IPVS TCP connections; 0 keeps the kernel's.",
    }),
    tcpFinTimeout: field(duration, {
      flag: 'ipvs-tcpfin-timeout',
      modes: ['ipvs'],
      help: "Timeout of IPVS TCP connections after a FIN; 0 keeps the kernel's.",
    }),
    udpTimeout: field(duration, {
      flag: 'ipvs-udp-timeout',
      modes: ['ipvs'],
      help: "Timeout of IPVS UDP packets; 0 keeps the kernel's.",
    }),
  },
  nftables: {
    masqueradeBit: field(int32, {
      default: 14,
      keepsZero: true,
      modes: ['nftables'],
      help: 'Bit of the packet mark that asks for masquerading, in mode nftables: 0 to 31.',
    }),
    masqueradeAll: field(bool, {
      flag: 'masquerade-all',
      modes: ['nftables'],
      elsewhere: false,
      help: 'Masquerade everything sent to service IPs.',
    }),
    syncPeriod: field(duration, {
      default: 30 * SECOND,
      flag: 'iptables-sync-period',
      modes: ['nftables'],
      elsewhere: '0s',
      help: 'Time between two full verifications of the rules.',
    }),
    minSyncPeriod: field(optionalDuration('1s'), {
      flag: 'iptables-min-sync-period',
      modes: ['nftables'],
      elsewhere: '0s',
      help: 'Shortest time between two writes of rules; unset, a change is written at once.',
    }),
  },
  winkernel: {
    networkName: field(text, { help: WINDOWS_ONLY }),
    sourceVip: field(text, { help: WINDOWS_ONLY }),
    rootHnsEndpointName: field(text, { help: WINDOWS_ONLY }),
    enableDSR: field(bool, { help: WINDOWS_ONLY }),
    forwardHealthCheckVip: field(bool, { help: WINDOWS_ONLY }),
  },
  detectLocalMode: field(textOf<DetectLocalMode>(), {
    flag: 'detect-local-mode',
    help: `How traffic from local pods is told: ${DETECT_LOCAL_MODES.join(', ')}; blank means ClusterCIDR.`,
  }),
  detectLocal: {
    bridgeInterface: field(text, {
      flag: 'pod-bridge-interface',
      help: 'Bridge that local pods are attached to, with --detect-local-mode=BridgeInterface.',
    }),
    interfaceNamePrefix: field(text, {
      flag: 'pod-interface-name-prefix',
      help: 'Start of the names of the interfaces of local pods, with --detect-local-mode=InterfaceNamePrefix.',
    }),
  },
  clusterCIDR: field(commaSeparated, {
    flag: 'cluster-cidr',
    help: 'CIDR of the pods of the cluster, or a comma-separated pair of one IPv4 and one IPv6 CIDR.',
  }),
  nodePortAddresses: field(stringSlice, {
    flag: 'nodeport-addresses',
    help: 'CIDRs of the local addresses on which node ports answer, or "primary": the node IPs only.',
  }),
  oomScoreAdj: field(int32, {
    default: -999,
    keepsZero: true,
    flag: 'oom-score-adj',
    help: 'oom_score_adj of this process: -1000 to 1000.',
  }),
  conntrack: {
    maxPerCore: field(int32, {
      default: 32768,
      keepsZero: true,
      flag: 'conntrack-max-per-core',
      help: 'Connections to track for each CPU; 0 leaves the limit alone.',
    }),
    min: field(int32, {
      default: 131072,
      keepsZero: true,
      flag: 'conntrack-min',
      help: 'Connections to track at least.',
    }),
    tcpEstablishedTimeout: field(duration, {
      default: 24 * HOUR,
      keepsZero: true,
      flag: 'conntrack-tcp-timeout-established',
      help: "Timeout of idle TCP connections; 0 keeps the kernel's.",
    }),
    tcpCloseWaitTimeout: field(duration, {
      default: HOUR,
      keepsZero: true,
      flag: 'conntrack-tcp-timeout-close-wait',
      help: "Timeout of TCP connections in CLOSE_WAIT; 0 keeps the kernel's.",
    }),
    tcpBeLiberal: field(bool, {
      flag: 'conntrack-tcp-be-liberal',
      help: 'Do not mark TCP packets outside the window as invalid.',
    }),
    udpTimeout: field(duration, {
      flag: 'conntrack-udp-timeout',
      help: "Timeout of unanswered UDP flows; 0 keeps the kernel's.",
    }),
    udpStreamTimeout: field(duration, {
      flag: 'conntrack-udp-timeout-stream',
      help: "Timeout of answered UDP flows; 0 keeps the kernel's.",
    }),
  },
  configSyncPeriod: field(duration, {
    default: 15 * MINUTE,
    flag: 'config-sync-period',
    help: 'Time between two comparisons with the API server.',
  }),
  portRange: field(text, { help: 'Ignored.' }),
  windowsRunAsService: field(boolOrNothing, { help: WINDOWS_ONLY }),
};

/** The configuration as the file nests it; durations are milliseconds, `clusterCIDR` is the list of its CIDRs. */
export type Configuration = ValuesOf<typeof schema>;
