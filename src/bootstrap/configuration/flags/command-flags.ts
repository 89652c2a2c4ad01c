import { field, type ValuesOf } from '../schema/field.js';
import { ipPort } from '../types/address-types.js';
import { pathArray } from '../types/list-types.js';
import { bool, int32, text, versionRequest } from '../types/scalar-types.js';

const NO_EFFECT = 'Accepted without effect.';

/** The flags that are not fields of the configuration: what to do, and with which files. They always apply. */
export const commandFlags = {
  config: field(text, {
    flag: 'config',
    help: 'Path to a KubeProxyConfiguration file; other configuration flags are ignored.',
  }),
  writeConfigTo: field(text, {
    flag: 'write-config-to',
    help: 'Write the configuration in effect to this file and exit.',
  }),
  cleanup: field(bool, { flag: 'cleanup', help: 'Remove all rules and exit.' }),
  initOnly: field(bool, {
    flag: 'init-only',
    help: 'Do only the initialization that needs privileges, and exit.',
  }),
  master: field(text, { flag: 'master', help: "URL of the API server, instead of the kubeconfig's." }),
  manifests: field(pathArray, {
    flag: 'manifests',
    help: 'File or folder with Services, EndpointSlices and Nodes to serve instead of an API server; repeatable.',
  }),
  once: field(bool, {
    flag: 'once',
    help: 'Program everything once, leave the rules in place and exit; with top: show one interval and exit.',
  }),
  scrapeBindAddress: field(ipPort, {
    flag: 'scrape-bind-address',
    help: 'IP and port on which only metrics and health are served, for a monitoring system on another machine; a bare IP gets port 10246.',
  }),
  version: field(versionRequest, {
    flag: 'version',
    help: 'Print the version and exit; raw prints all version fields.',
  }),
  healthzPort: field(int32, {
    default: 10256,
    flag: 'healthz-port',
    help: 'Port of the health check server if --healthz-bind-address has none; 0 disables the server.',
    deprecated: 'use --healthz-bind-address',
  }),
  metricsPort: field(int32, {
    default: 10249,
    flag: 'metrics-port',
    help: 'Port of the metrics server if --metrics-bind-address has none; 0 disables the server.',
    deprecated: 'use --metrics-bind-address',
  }),
  cleanupIpvs: field(bool, {
    default: true,
    flag: 'cleanup-ipvs',
    help: NO_EFFECT,
    deprecated: '--cleanup always removes the rules of all modes',
  }),
  resourceContainer: field(text, {
    default: '/kube-proxy',
    flag: 'resource-container',
    help: NO_EFFECT,
    deprecated: 'the process stays in its cgroup',
  }),
  machineIdFile: field(text, {
    default: '/etc/machine-id,/var/lib/dbus/machine-id',
    flag: 'machine-id-file',
    help: NO_EFFECT,
  }),
  bootIdFile: field(text, {
    default: '/proc/sys/kernel/random/boot_id',
    flag: 'boot-id-file',
    help: NO_EFFECT,
  }),
};

export type CommandFlags = ValuesOf<typeof commandFlags>;
