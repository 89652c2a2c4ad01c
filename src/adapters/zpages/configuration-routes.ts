import { JSON_TYPE, respond, TEXT_TYPE, type Routes } from '../http/router.js';

/** `/proxyMode` and `/configz` (docs/spec/server.md §9). */
export function configurationRoutes({
  proxyMode,
  configuration,
}: {
  readonly proxyMode: string;
  /** The active KubeProxyConfiguration, including edits of the file. */
  readonly configuration: () => Readonly<Record<string, unknown>>;
}): Routes {
  return {
    '/proxyMode': (_, response) => respond(response, 200, TEXT_TYPE, proxyMode),
    '/configz': (_, response) =>
      respond(response, 200, JSON_TYPE, JSON.stringify({ 'kubeproxy.config.k8s.io': configuration() })),
  };
}
