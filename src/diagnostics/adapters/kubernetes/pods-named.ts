import type { KnownPod, NamedPod } from '../../application/trace/named-pod.js';
import { fields, list, optional, text } from '../../../domain/shape.js';
import type { ApiClient } from '../../../adapters/kubernetes/client/api-client.js';
import { listAll } from '../../../adapters/kubernetes/client/send.js';

const podShape = fields({
  metadata: fields({ name: text, namespace: text }),
  status: optional(fields({ phase: optional(text), podIPs: optional(list(fields({ ip: text }))) })),
});

/**
 * The pods of that name: in its namespace, or in all. Needs the right to list pods there.
 * @throws ApiError, ApiConnectionError, ApiProtocolError, CredentialsError, KubeconfigError
 */
export async function podsNamed(client: ApiClient, { pod }: NamedPod): Promise<readonly KnownPod[]> {
  const [name = '', namespace] = pod.split('/').reverse();
  const selection = { ...(namespace !== undefined && { namespace }), fieldSelector: `metadata.name=${name}` };
  const { listPods } = await import('./cluster-requests.js');
  const pods = await listAll(client, listPods(selection), podShape);
  return pods.map(({ metadata, status }) => ({
    pod: `${metadata.namespace}/${metadata.name}`,
    phase: status?.phase ?? 'Pending',
    ips: status?.podIPs?.map(({ ip }) => ip) ?? [],
  }));
}
