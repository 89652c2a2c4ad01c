import { isRecord, keyOf, listType, type Fields } from './merge-keys.js';

/** Strategic merge patch: as a merge patch, but lists whose members have a key are merged, and `$` fields give directions. */
export function strategicMerge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  if (patch.$patch === 'replace') return withoutDirections(patch);
  const retained = patch.$retainKeys as readonly string[] | undefined;
  const base = isRecord(target) ? target : {};
  const result: Record<string, unknown> = Object.fromEntries(
    Object.entries(base).filter(([key]) => retained?.includes(key) ?? true),
  );
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith('$')) continue;
    if (value === null) delete result[key];
    else if (Array.isArray(value)) result[key] = mergedList(key, result[key], value);
    else result[key] = strategicMerge(result[key], value);
  }
  for (const [key, value] of Object.entries(patch)) {
    const field = /^\$deleteFromPrimitiveList\/(.*)$/.exec(key)?.[1];
    const list = field === undefined ? undefined : result[field];
    if (Array.isArray(list))
      result[field!] = list.filter((member) => !(value as readonly unknown[]).includes(member));
  }
  return ordered(result, patch);
}

function mergedList(field: string, target: unknown, patch: readonly unknown[]): unknown {
  const before = Array.isArray(target) ? (target as readonly unknown[]) : [];
  if (patch.some((member) => isRecord(member) && member.$patch === 'replace' && !('name' in member)))
    return patch
      .filter((member) => !(isRecord(member) && member.$patch === 'replace'))
      .map(withoutDirections);
  const type = listType(field, patch);
  if (type === 'atomic') return patch;
  if (type === 'set') return [...new Set([...before, ...patch])];
  // Ports are told apart by their number alone.
  const keys = type.keys.slice(0, 1);
  const members = new Map(before.map((member) => [keyOf(member, keys), member]));
  for (const member of patch) {
    const key = keyOf(member, keys);
    if (isRecord(member) && member.$patch === 'delete') members.delete(key);
    else members.set(key, strategicMerge(members.get(key), member));
  }
  return [...members.values()];
}

/** Lists in the order that the patch asks for. */
function ordered(result: Fields, patch: Fields): Fields {
  const lists = { ...result };
  for (const [key, order] of Object.entries(patch)) {
    const field = /^\$setElementOrder\/(.*)$/.exec(key)?.[1];
    const list = field === undefined ? undefined : lists[field];
    if (!Array.isArray(list)) continue;
    const type = listType(field!, list);
    const name = (member: unknown): string =>
      typeof type === 'object' && isRecord(member) ? keyOf(member, type.keys.slice(0, 1)) : String(member);
    const names = (order as readonly unknown[]).map(name);
    lists[field!] = [...list].sort((a, b) => names.indexOf(name(a)) - names.indexOf(name(b)));
  }
  return lists;
}

function withoutDirections(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirections);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, member]) => !key.startsWith('$') && member !== null)
      .map(([key, member]) => [key, withoutDirections(member)]),
  );
}
