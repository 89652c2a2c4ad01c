/** What a list of the API is, when two of them are merged. */
export type ListType =
  /** The newer one replaces the other. */
  | 'atomic'
  /** Its members are told apart by these fields. */
  | { readonly keys: readonly string[] }
  /** Of texts, each of which it has once. */
  | 'set';

/** By the name of the field, as the API's types say it for the kinds that the tests use. Others are atomic. */
const LISTS: Readonly<Record<string, ListType>> = {
  containers: { keys: ['name'] },
  initContainers: { keys: ['name'] },
  ephemeralContainers: { keys: ['name'] },
  env: { keys: ['name'] },
  volumes: { keys: ['name'] },
  volumeMounts: { keys: ['mountPath'] },
  imagePullSecrets: { keys: ['name'] },
  conditions: { keys: ['type'] },
  ownerReferences: { keys: ['uid'] },
  finalizers: 'set',
};

const CONTAINER_PORTS: ListType = { keys: ['containerPort', 'protocol'] };
const SERVICE_PORTS: ListType = { keys: ['port', 'protocol'] };

/** @param value the list, or what a patch has for it */
export function listType(field: string, value: readonly unknown[]): ListType {
  if (field !== 'ports') return LISTS[field] ?? 'atomic';
  return value.some((port) => isRecord(port) && 'containerPort' in port) ? CONTAINER_PORTS : SERVICE_PORTS;
}

/** What tells a member of such a list from the others. A port without a protocol is one of TCP. */
export function keyOf(member: unknown, keys: readonly string[]): string {
  const fields = member as Record<string, unknown>;
  return keys.map((key) => String(fields[key] ?? (key === 'protocol' ? 'TCP' : ''))).join('/');
}

export type Fields = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
