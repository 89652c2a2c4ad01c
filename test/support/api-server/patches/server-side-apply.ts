import { isRecord, keyOf, listType, type Fields } from './merge-keys.js';

/** Maps that the API replaces as a whole. */
const ATOMIC_MAPS = ['nodeSelector', 'matchLabels', 'roleRef', 'fieldRef', 'resourceFieldRef'];

/** What each field manager applied to each object last: what it leaves out the next time is removed. */
export class AppliedConfigurations {
  private readonly byObject = new Map<string, Map<string, Fields>>();

  /** The object with this manager's configuration applied. Who else changed what it sets is not asked: as with `force`. */
  apply(live: Fields, configuration: Fields, manager: string, object: string): Fields {
    const managers = this.byObject.get(object) ?? new Map<string, Fields>();
    this.byObject.set(object, managers);
    const before = managers.get(manager);
    managers.set(manager, configuration);
    const merged = merge(live, configuration) as Fields;
    const others = [...managers].filter(([name]) => name !== manager).map(([, applied]) => applied);
    return before ? (without(merged, before, [configuration, ...others]) as Fields) : merged;
  }

  /** The object is gone. */
  forget(object: string): void {
    this.byObject.delete(object);
  }
}

function merge(live: unknown, applied: unknown, field = ''): unknown {
  if (Array.isArray(applied)) {
    const type = listType(field, applied);
    const before = Array.isArray(live) ? (live as readonly unknown[]) : [];
    if (type === 'atomic') return applied;
    if (type === 'set') return [...new Set([...before, ...(applied as readonly unknown[])])];
    const members = new Map(before.map((member) => [keyOf(member, type.keys), member]));
    for (const member of applied) {
      const key = keyOf(member, type.keys);
      members.set(key, merge(members.get(key), member));
    }
    return [...members.values()];
  }
  if (!isRecord(applied) || !isRecord(live) || ATOMIC_MAPS.includes(field)) return applied;
  const merged: Record<string, unknown> = { ...live };
  for (const [key, value] of Object.entries(applied)) merged[key] = merge(live[key], value, key);
  return merged;
}

/** What is left of a value when all is gone that was set before and that nobody sets any more; undefined: nothing. */
function without(value: unknown, before: unknown, now: readonly unknown[], field = ''): unknown {
  const kept = now.filter((each) => each !== undefined);
  if (Array.isArray(value) && Array.isArray(before)) {
    const type = listType(field, before);
    if (typeof type !== 'object') return kept.length > 0 ? value : undefined;
    const member = (list: unknown, key: string): unknown =>
      Array.isArray(list) ? list.find((each) => keyOf(each, type.keys) === key) : undefined;
    const rest = value.flatMap((each) => {
      const key = keyOf(each, type.keys);
      const old = member(before, key);
      const left =
        old === undefined
          ? each
          : without(
              each,
              old,
              kept.map((list) => member(list, key)),
            );
      // A member without anything but its key is one that nobody wants.
      const wanted = old === undefined || kept.some((list) => member(list, key) !== undefined);
      return left === undefined || (!wanted && isRecord(left) && Object.keys(left).length === 0)
        ? []
        : [left];
    });
    return rest.length > 0 || kept.length > 0 ? rest : undefined;
  }
  if (isRecord(value) && isRecord(before) && !ATOMIC_MAPS.includes(field)) {
    const rest: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      const settled = kept.map((each) => (isRecord(each) ? each[key] : undefined));
      const left = key in before ? without(member, before[key], settled, key) : member;
      if (left !== undefined) rest[key] = left;
    }
    return Object.keys(rest).length > 0 || kept.length > 0 ? rest : undefined;
  }
  return kept.length > 0 ? value : undefined;
}
