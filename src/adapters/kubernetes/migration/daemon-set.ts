import { posix } from 'node:path';
import { fields, list, optional, text, anything } from '../../../domain/shapes/shape.js';
import type { IpvsSettings, ProxyDaemonSet } from '../../../domain/migration/proxy-daemon-set.js';

const mount = fields({ name: text, mountPath: text, subPath: optional(text) });

export type TemplateContainer = ReturnType<typeof container>;
const container = fields({
  name: text,
  image: optional(text),
  command: optional(list(text)),
  args: optional(list(text)),
  volumeMounts: optional(list(mount)),
});

const volume = fields({
  name: text,
  configMap: optional(fields({ name: text, items: optional(list(fields({ key: text, path: text }))) })),
});

/** The part of a DaemonSet that is read; the rest of its template is there, too. */
export type DaemonSet = ReturnType<typeof daemonSetShape>;
export const daemonSetShape = fields({
  metadata: fields({ name: text, namespace: text, labels: optional(anything) }),
  spec: fields({
    template: fields({
      spec: fields({
        containers: list(container),
        volumes: optional(list(volume)),
        nodeSelector: optional(anything),
      }),
    }),
  }),
});

/** What the command line and the files of a proxy ask for. */
export interface ProxySettings {
  /** Empty: not configured. */
  readonly mode: string;
  readonly ipvs: IpvsSettings;
}

/**
 * Reads a command line as the proxy itself would.
 * @param readFile the files of its volumes
 * @throws any error, if they cannot be understood
 */
export type ReadSettings = (argv: readonly string[], readFile: (path: string) => string) => ProxySettings;

/** The container of the proxy: kubeadm's DaemonSet calls it `kube-proxy`, ours `kube-proxy-ts`. */
export function containerOf({ spec }: DaemonSet): TemplateContainer | undefined {
  const { containers } = spec.template.spec;
  return containers.find(({ name }) => name.startsWith('kube-proxy')) ?? containers[0];
}

/** Whose program it runs; undefined: none that is known here. */
export function programOf(daemonSet: DaemonSet): ProxyDaemonSet['program'] | undefined {
  const { name = '', image = '' } = containerOf(daemonSet) ?? {};
  const { labels = {} } = daemonSet.metadata as { labels?: Readonly<Record<string, string>> };
  const isOurs =
    name === 'kube-proxy-ts' ||
    labels['app.kubernetes.io/name'] === 'kube-proxy-ts' ||
    /(^|\/)kube-proxy-ts([:@]|$)/.test(image);
  if (isOurs) return 'kube-proxy-ts';
  return /kube-proxy[^/]*$/.test(image) ? 'kube-proxy' : undefined;
}

/** The tag of an image, else the beginning of its digest. */
export function versionOf(image = ''): string {
  const [, tag] = /:([\w][\w.-]*)(?:@|$)/.exec(image.replace(/@.*$/, '')) ?? [];
  const [, digest] = /@\w+:(\w{12})/.exec(image) ?? [];
  return tag ?? digest ?? '-';
}

/** The flags of a container, without the program before them. */
export function flagsOf({ command = [], args = [] }: TemplateContainer): readonly string[] {
  const line = [...command, ...args];
  const from = line.findIndex((word) => word.startsWith('-'));
  return from === -1 ? [] : line.slice(from);
}

/** A file that a container sees, as a key of a config map. */
export interface MountedKey {
  readonly path: string;
  readonly configMap: string;
  readonly key: string;
}

/** Where the container finds a file of a config map. @param keys of the config map of that name */
export function mountedFiles(
  { spec }: DaemonSet,
  { volumeMounts = [] }: TemplateContainer,
  keys: (configMap: string) => readonly string[],
): readonly MountedKey[] {
  const { volumes = [] } = spec.template.spec;
  return volumeMounts.flatMap(({ name, mountPath, subPath }) => {
    const { configMap } = volumes.find((each) => each.name === name) ?? {};
    if (!configMap) return [];
    const items = configMap.items ?? keys(configMap.name).map((key) => ({ key, path: key }));
    return items
      .filter(({ path }) => subPath === undefined || path === subPath)
      .map(({ key, path }) => ({
        path: subPath === undefined ? posix.join(mountPath, path) : mountPath,
        configMap: configMap.name,
        key,
      }));
  });
}

/** The config maps that a container sees. */
export function configMapsOf(
  { spec }: DaemonSet,
  { volumeMounts = [] }: TemplateContainer,
): readonly string[] {
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  return (spec.template.spec.volumes ?? []).flatMap(({ name, configMap }) =>
    configMap && mounted.has(name) ? [configMap.name] : [],
  );
}
