import { USUAL_FRONTENDS_LIMIT } from '../../../domain/decode/read-service.js';
import { ip, ipPort } from '../types/address-types.js';
import { USUAL_KUBERNETES_VERSION } from '../levels.js';
import { featureGateHelp } from './feature-gates.js';
import { field, type ValuesOf } from './field.js';
import * as rules from './field-rule.js';
import { commaSeparated, gateMap, stringSlice } from '../types/list-types.js';
import { loggingFields } from './logging-fields.js';
import { iptablesFields, ipvsFields, nftablesFields } from './mode-fields.js';
import {
  bool,
  boolOrNothing,
  duration,
  float,
  int32,
  kubernetesVersion,
  optionalBool,
  text,
  textOf,
  unless,
} from '../types/scalar-types.js';

export const API_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';
export const KIND = 'KubeProxyConfiguration';

/** How services are programmed. Unset is iptables; `auto` is our own: nftables if the kernel supports it. */
export const PROXY_MODES = ['iptables', 'ipvs', 'nftables', 'userspace'] as const;
export type ProxyMode = (typeof PROXY_MODES)[number];
export type RequestedMode = ProxyMode | 'auto' | '';

const DETECT_LOCAL_MODES = ['ClusterCIDR', 'NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'] as const;
export type DetectLocalMode = (typeof DETECT_LOCAL_MODES)[number];

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Five series for each service port. */
const TRAFFIC_SERIES = 1_000;
/** As in the last kube-proxy that had mode userspace. */
const IDLE_TIMEOUT = 250;

const CONNTRACK = 'KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration';
const INTERFACE_NAMES =
  'At most 15 bytes, the limit of the kernel; a longer name, or one that no interface can have, is rejected.';
const conntrackTimeout = (flag: string, name: string, of: string) => ({
  flag: `conntrack-${flag}`,
  rule: rules.notNegativeDuration(7, `${CONNTRACK}.${name}`),
  help: `Timeout of ${of}; 0 keeps the kernel's.`,
});
const WINDOWS_ONLY = 'No effect on Linux.';

/**
 * Every field of KubeProxyConfiguration v1alpha1 (docs/spec/configuration.md §2 and §3) with its type, default, flag and
 * meaning. Decoding, defaults, validation, `--help`, docs/configuration.md and the effect of edits are derived from this;
 * validation.ts has the rules between fields.
 */
export const schema = {
  kubernetesVersion: field(unless(USUAL_KUBERNETES_VERSION, kubernetesVersion), {
    default: USUAL_KUBERNETES_VERSION,
    keepsZero: true,
    flag: 'kubernetes-version',
    besideFile: true,
    help: 'Our own: the release of kube-proxy to behave as, where releases differ: feature gates, what is accepted, warnings.',
  }),
  featureGates: field(gateMap, {
    flag: 'feature-gates',
    help: `Feature gates to set, as Name=true|false. Known here: ${featureGateHelp}.`,
  }),
  clientConnection: {
    kubeconfig: field(text, {
      flag: 'kubeconfig',
      help: 'Path to a kubeconfig file. Without it and without --master, the in-cluster configuration is used.',
    }),
    acceptContentTypes: field(text, {
      help:
        'Media types in which objects are requested, as an Accept header; empty: contentType, with JSON as fall-back. ' +
        'Types other than Kubernetes protobuf and JSON are ignored with a warning.',
    }),
    contentType: field(text, {
      default: 'application/vnd.kubernetes.protobuf',
      flag: 'kube-api-content-type',
      help: 'Media type in which objects are requested. What the proxy sends, events, is JSON in any case.',
    }),
    qps: field(float, { default: 5, flag: 'kube-api-qps', help: 'API requests per second.' }),
    burst: field(int32, {
      default: 10,
      flag: 'kube-api-burst',
      rule: rules.notNegative(10, 'ClientConnection.Burst'),
      help: 'API requests allowed at once beyond the rate.',
    }),
  },
  logging: loggingFields,
  hostnameOverride: field(text, {
    flag: 'hostname-override',
    help: "Name of this node's Node object, if it is not the host name.",
    besideFile: true,
    joinWithFile: (flag, file) => flag || file,
  }),
  bindAddress: field(ip, {
    default: '0.0.0.0',
    flag: 'bind-address',
    rule: rules.address(15, 'BindAddress'),
    help: "Replaces the node's primary IP, unless it is unspecified (0.0.0.0 or ::). Only mode userspace listens on it.",
  }),
  healthzBindAddress: field(ipPort, {
    default: '0.0.0.0:10256',
    flag: 'healthz-bind-address',
    rule: rules.hostPort(16, 'HealthzBindAddress'),
    help: 'IP and port of the health check server; a bare IP gets port 10256.',
  }),
  metricsBindAddress: field(ipPort, {
    default: '127.0.0.1:10249',
    flag: 'metrics-bind-address',
    rule: rules.hostPort(17, 'MetricsBindAddress'),
    help: 'IP and port of the metrics server; a bare IP gets port 10249.',
  }),
  bindAddressHardFail: field(bool, {
    flag: 'bind-address-hard-fail',
    help: 'Treat a failure to bind to a port as fatal.',
  }),
  page: field(optionalBool, {
    keepsZero: true,
    flag: 'page',
    besideFile: true,
    help:
      'Serve a page for browsers at / of the metrics server; what it shows is only read. Not configured: only if ' +
      'metricsBindAddress is a loopback address. Clients that do not come over loopback need debugRoutes, too.',
  }),
  debugRoutes: field(boolOrNothing, {
    flag: 'debug-routes',
    besideFile: true,
    help:
      'Our own: what the metrics server tells at /debug about Services and rules, and the page, is for everybody who reaches that ' +
      'server. Otherwise it is for clients that come over loopback. Profiles have --profiling.',
  }),
  enableProfiling: field(bool, {
    flag: 'profiling',
    help: 'Serve profiles under /debug on the metrics server.',
  }),
  serviceTrafficMetrics: field(boolOrNothing, {
    flag: 'service-traffic-metrics',
    besideFile: true,
    help: 'Our own: count the connections of Services all the time, and show them as metrics.',
  }),
  serviceTrafficMetricsLimit: field(unless(TRAFFIC_SERIES, int32), {
    default: TRAFFIC_SERIES,
    flag: 'service-traffic-metrics-limit',
    besideFile: true,
    rule: rules.notNegative(30, 'ServiceTrafficMetricsLimit'),
    help: 'How many service ports have series of their own with --service-traffic-metrics; the others share one.',
  }),
  ejectSilentEndpoints: field(boolOrNothing, {
    flag: 'eject-silent-endpoints',
    besideFile: true,
    help:
      'Our own: an endpoint whose last connections from this node, three or more, got no answer gets no new ones for a while ' +
      '(docs/failover.md). The annotation kube-proxy-ts/eject-silent-endpoints of a Service decides for it, "true" or "false".',
  }),
  serviceFrontendsLimit: field(unless(USUAL_FRONTENDS_LIMIT, int32), {
    default: USUAL_FRONTENDS_LIMIT,
    keepsZero: true,
    flag: 'service-frontends-limit',
    besideFile: true,
    rule: rules.notNegative(31, 'ServiceFrontendsLimit'),
    help:
      'Our own: how many frontends (ports times addresses, and node ports) one Service may have; one with more is ignored like ' +
      'an invalid one. 0 for any number.',
  }),
  resetDeadConnections: field(unless(true, bool), {
    default: true,
    keepsZero: true,
    flag: 'reset-dead-connections',
    besideFile: true,
    modes: ['iptables', 'ipvs', 'nftables'],
    help:
      'Our own: an established connection of TCP or SCTP whose endpoint no longer serves and does not answer is given up within seconds, ' +
      'and its client gets a reset. Otherwise the client waits until it gives up by itself. With a Service of SCTP it turns packet ' +
      'accounting of connection tracking on (nf_conntrack_acct).',
  }),
  showHiddenMetricsForVersion: field(text, {
    flag: 'show-hidden-metrics-for-version',
    help: 'Previous minor version, to show metrics that were hidden after it.',
  }),
  mode: field(textOf<RequestedMode>(), {
    flag: 'proxy-mode',
    help: 'iptables (also if blank), ipvs, nftables, userspace, or auto: nftables if this kernel supports it, otherwise iptables.',
  }),
  iptables: iptablesFields,
  ipvs: ipvsFields,
  nftables: nftablesFields,
  winkernel: {
    networkName: field(text, { onEdit: 'none', help: WINDOWS_ONLY }),
    sourceVip: field(text, { onEdit: 'none', help: WINDOWS_ONLY }),
    rootHnsEndpointName: field(text, { onEdit: 'none', help: WINDOWS_ONLY }),
    enableDSR: field(bool, { onEdit: 'none', help: WINDOWS_ONLY }),
    forwardHealthCheckVip: field(bool, { onEdit: 'none', help: WINDOWS_ONLY }),
  },
  detectLocalMode: field(textOf<DetectLocalMode>(), {
    flag: 'detect-local-mode',
    rule: rules.supported(21, 'DetectLocalMode', DETECT_LOCAL_MODES),
    onEdit: 'resync',
    help: `How to detect traffic from local pods: ${DETECT_LOCAL_MODES.join(', ')}; blank means ClusterCIDR.`,
  }),
  detectLocal: {
    bridgeInterface: field(text, {
      flag: 'pod-bridge-interface',
      onEdit: 'resync',
      help: `Bridge that local pods are connected to, with --detect-local-mode=BridgeInterface. ${INTERFACE_NAMES}`,
    }),
    interfaceNamePrefix: field(text, {
      flag: 'pod-interface-name-prefix',
      onEdit: 'resync',
      help: `Prefix of the interface names of local pods, with --detect-local-mode=InterfaceNamePrefix. ${INTERFACE_NAMES}`,
    }),
  },
  clusterCIDR: field(commaSeparated, {
    flag: 'cluster-cidr',
    onEdit: 'resync',
    help: "CIDR of the cluster's pods, or a comma-separated pair of one IPv4 and one IPv6 CIDR.",
  }),
  nodePortAddresses: field(stringSlice, {
    flag: 'nodeport-addresses',
    onEdit: 'resync',
    help:
      'CIDRs of the local addresses that accept node port traffic, and keywords: primary (the node IPs), localhost (127.0.0.0/8 and ::1), all. ' +
      'A family without an entry accepts it on all its addresses. Unset means primary in mode nftables, all in the others. ' +
      'Loopback addresses in it count in mode iptables, in IPv4, in mode nftables, for TCP and with gate ' +
      'KubeProxyNFTablesLocalhostNodePorts, and for health checks.',
  }),
  oomScoreAdj: field(int32, {
    default: -999,
    keepsZero: true,
    flag: 'oom-score-adj',
    rule: rules.within(8, 'KubeProxyLinuxConfiguration.OOMScoreAdj', -1000, 1000),
    help: 'oom_score_adj value of this process.',
  }),
  conntrack: {
    maxPerCore: field(int32, {
      default: 32768,
      keepsZero: true,
      flag: 'conntrack-max-per-core',
      rule: rules.notNegative(6, `${CONNTRACK}.MaxPerCore`),
      help: 'Maximum number of tracked connections per CPU; 0 keeps the current limit.',
    }),
    min: field(int32, {
      default: 131072,
      keepsZero: true,
      flag: 'conntrack-min',
      rule: rules.notNegative(6, `${CONNTRACK}.Min`),
      help: 'Minimum limit of tracked connections, whatever the number of CPUs.',
    }),
    tcpEstablishedTimeout: field(duration, {
      ...conntrackTimeout('tcp-timeout-established', 'TCPEstablishedTimeout', 'idle TCP connections'),
      default: 24 * HOUR,
      keepsZero: true,
    }),
    tcpCloseWaitTimeout: field(duration, {
      ...conntrackTimeout('tcp-timeout-close-wait', 'TCPCloseWaitTimeout', 'TCP connections in CLOSE_WAIT'),
      default: HOUR,
      keepsZero: true,
    }),
    tcpBeLiberal: field(bool, {
      flag: 'conntrack-tcp-be-liberal',
      help: 'Do not mark TCP packets outside the window as invalid.',
    }),
    udpTimeout: field(duration, conntrackTimeout('udp-timeout', 'UDPTimeout', 'unanswered UDP flows')),
    udpStreamTimeout: field(
      duration,
      conntrackTimeout('udp-timeout-stream', 'UDPStreamTimeout', 'answered UDP flows'),
    ),
  },
  configSyncPeriod: field(duration, {
    default: 15 * MINUTE,
    flag: 'config-sync-period',
    rule: rules.positiveDuration(11, 'ConfigSyncPeriod'),
    onEdit: 'none',
    help: 'Accepted without effect: objects are watched, not polled.',
  }),
  portRange: field(text, {
    flag: 'proxy-port-range',
    modes: ['userspace'],
    rule: rules.portRange(28, 'PortRange'),
    help: 'Ports that the proxy may listen on: N, LOW-HIGH or LOW+OFFSET; blank lets the kernel choose.',
  }),
  udpIdleTimeout: field(unless(IDLE_TIMEOUT, duration), {
    default: IDLE_TIMEOUT,
    flag: 'udp-timeout',
    modes: ['userspace'],
    rule: rules.positiveDuration(29, 'UDPIdleTimeout'),
    help: 'How long an idle UDP flow keeps its endpoint.',
  }),
  windowsRunAsService: field(boolOrNothing, { onEdit: 'none', help: WINDOWS_ONLY }),
};

/** The configuration as the file nests it; durations are milliseconds, `clusterCIDR` is the list of its CIDRs. */
export type Configuration = ValuesOf<typeof schema>;
