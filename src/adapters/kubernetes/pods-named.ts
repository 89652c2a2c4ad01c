import type { KnownPod, NamedPod } from '../../application/trace/named-pod.js';
import { errorMessage } from '../../application/error-message.js';
import { fields, list, optional, text } from '../../domain/shapes/shape.js';
import type { ApiClient } from './client/api-client.js';
import { ApiProtocolError } from './client/api-error.js';

const podList = fields({
  items: list(
    fields({
      metadata: fields({ name: text, namespace: text }),
      status: optional(fields({ phase: optional(text), podIPs: optional(list(fields({ ip: text }))) })),
    }),
  ),
});

/**
 * The pods of that name: in its namespace, or in all. Needs the right to list pods there.
 * @throws ApiError, ApiConnectionError, ApiProtocolError, KubeconfigError
 */
export async function podsNamed(client: ApiClient, { pod }: NamedPod): Promise<readonly KnownPod[]> {
  const [name = '', namespace] = pod.split('/').reverse();
  const path = namespace === undefined ? '/api/v1/pods' : `/api/v1/namespaces/${namespace}/pods`;
  const answer = await client.json({ path, query: { fieldSelector: `metadata.name=${name}` } });
  return itemsOf(answer, path).map(({ metadata, status }) => ({
    pod: `${metadata.namespace}/${metadata.name}`,
    phase: status?.phase ?? 'Pending',
    ips: status?.podIPs?.map(({ ip }) => ip) ?? [],
  }));
}

function itemsOf(answer: unknown, path: string): ReturnType<typeof podList>['items'] {
  try {
    return podList(answer, '').items;
  } catch (cause) {
    throw new ApiProtocolError(`GET ${path}`, errorMessage(cause), { cause });
  }
}
