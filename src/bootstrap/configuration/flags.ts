import { grouped } from '../../domain/model/maps.js';
import { field, fieldEntries, type Field, type ValuesOf } from './field.js';
import { PROXY_MODES, schema } from './schema.js';
import { bool, int32, ipPort, pathArray, text, versionRequest } from './value-types.js';

const NO_EFFECT = 'Accepted without effect.';

/** The flags that are not fields of the configuration: what to do, and with which files. They always apply. */
export const commandFlags = {
  config: field(text, 'config', {
    help: 'Path to a KubeProxyConfiguration file; other configuration flags are ignored.',
  }),
  writeConfigTo: field(text, 'write-config-to', {
    help: 'Write the configuration in effect to this file and exit.',
  }),
  cleanup: field(bool, 'cleanup', { help: 'Remove all rules and exit.' }),
  initOnly: field(bool, 'init-only', { help: 'Do only the initialization that needs privileges, and exit.' }),
  master: field(text, 'master', { help: "URL of the API server, instead of the kubeconfig's." }),
  manifests: field(pathArray, 'manifests', {
    help: 'File or folder with Services, EndpointSlices and Nodes to serve instead of an API server; repeatable.',
  }),
  once: field(bool, 'once', {
    help: 'Program everything once, leave the rules in place and exit; with top: show one interval and exit.',
  }),
  scrapeBindAddress: field(ipPort, 'scrape-bind-address', {
    help: 'IP and port on which only metrics and health are served, for a monitoring system on another machine; a bare IP gets port 10246.',
  }),
  version: field(versionRequest, 'version', {
    help: 'Print the version and exit; raw prints all version fields.',
  }),
  healthzPort: field(int32, 'healthz-port', {
    help: 'Port of the health check server if --healthz-bind-address has none; 0 disables the server.',
    default: 10256,
    deprecated: 'use --healthz-bind-address',
  }),
  metricsPort: field(int32, 'metrics-port', {
    help: 'Port of the metrics server if --metrics-bind-address has none; 0 disables the server.',
    default: 10249,
    deprecated: 'use --metrics-bind-address',
  }),
  cleanupIpvs: field(bool, 'cleanup-ipvs', {
    help: NO_EFFECT,
    default: true,
    deprecated: '--cleanup always removes the rules of all modes',
  }),
  resourceContainer: field(text, 'resource-container', {
    help: NO_EFFECT,
    default: '/kube-proxy',
    deprecated: 'the process stays in its cgroup',
  }),
  machineIdFile: field(text, 'machine-id-file', {
    help: NO_EFFECT,
    default: '/etc/machine-id,/var/lib/dbus/machine-id',
  }),
  bootIdFile: field(text, 'boot-id-file', {
    help: NO_EFFECT,
    default: '/proc/sys/kernel/random/boot_id',
  }),
};

export type CommandFlags = ValuesOf<typeof commandFlags>;

/** The headings under which the flags of the proxy stand in `help flags`, each with the names of its flags. */
const GROUPS: readonly (readonly [heading: string, names: RegExp])[] = [
  ['What to do:', /^(config|write-config-to|cleanup|init-only|once|manifests|version)$/],
  ['The cluster:', /^(kubeconfig|kube-api-.*|master|kubernetes-version|hostname-override|feature-gates)$/],
  [
    'Traffic:',
    /^(proxy-mode|cluster-cidr|detect-local-mode|pod-.*|nodeport-addresses|masquerade-all|bind-address|service-frontends-limit)$/,
  ],
  ['Rules of iptables, nftables and userspace mode:', /^iptables-/],
  ['IPVS mode:', /^ipvs-/],
  ['Userspace mode:', /^(proxy-port-range|udp-timeout)$/],
  ['Connections:', /^(conntrack-.*|reset-dead-connections|eject-unresponsive-endpoints)$/],
  [
    'Health, metrics and reports:',
    /^(healthz-.*|check-forwarding|metrics-.*|scrape-bind-address|bind-address-hard-fail|page|debug-routes|profiling|service-traffic-.*|show-hidden-metrics-for-version)$/,
  ],
  ['The process and its log:', /^(oom-score-adj|v|logging-format|log-.*-split-stream)$/],
  [
    'Accepted without effect:',
    /^(config-sync-period|log-flush-frequency|log-.*-buffer-size|vmodule|machine-id-file|boot-id-file|cleanup-ipvs|resource-container)$/,
  ],
];

/** A flag, with all fields that it sets. */
export interface Flag {
  readonly name: string;
  /** The first of its fields: its type and default are those of the flag. */
  readonly field: Field<unknown>;
  /** Its meaning, its modes, and the replacement if it is deprecated. */
  readonly help: string;
  /** Its heading in `help flags`. */
  readonly heading: string;
}

/** Every flag by name, in the order of `help flags`. */
export const proxyFlags: ReadonlyMap<string, Flag> = collectFlags();

/** In words, the modes in which something counts; nothing when these are all. */
export function modeNote(modes: readonly string[] | undefined): string {
  if (!modes || PROXY_MODES.every((mode) => modes.includes(mode))) return '';
  const [last, ...others] = modes.toReversed();
  return `Only in ${others.length > 0 ? `${others.toReversed().join(', ')} and ` : ''}${last} mode.`;
}

/**
 * Every flag with its value as the command line left it, sorted by name: for /flagz and the log at the start. As with
 * kube-proxy these are the flags, not what the configuration file made of them.
 */
export function flagValues({
  flags,
}: {
  /** The flags that were given. */
  readonly flags: ReadonlyMap<string, unknown>;
}): readonly (readonly [name: string, value: string])[] {
  const values = [...proxyFlags.values()].map(
    ({ name, field: { type, flagDefault } }) =>
      [name, type.format(flags.has(name) ? flags.get(name) : flagDefault)] as const,
  );
  return [...values, ['help', 'false'] as const].sort(([a], [b]) => (a < b ? -1 : 1));
}

function collectFlags(): ReadonlyMap<string, Flag> {
  const all = [...fieldEntries(commandFlags), ...fieldEntries(schema)].map(([, one]) => one);
  const byName = grouped(
    all.filter(({ flag }) => flag !== ''),
    ({ flag }) => flag,
  );
  const groupOf = (name: string): number => GROUPS.findIndex(([, names]) => names.test(name));
  const sorted = [...byName].sort(([one], [other]) => groupOf(one) - groupOf(other));
  return new Map(
    sorted.map(([name, fields]) => {
      const [heading] = GROUPS[groupOf(name)]!;
      return [name, { name, field: fields[0]!, help: helpOf(fields), heading }];
    }),
  );
}

/** The help of the first of the fields that share a flag, with the modes of all. */
function helpOf(fields: readonly Field<unknown>[]): string {
  const { help, deprecated } = fields[0]!.options;
  const modes = fields.flatMap(({ options }) => options.modes ?? PROXY_MODES);
  return [help, modeNote(modes), deprecated ? `Deprecated: ${deprecated}.` : ''].filter(Boolean).join(' ');
}
