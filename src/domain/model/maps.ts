/** Maps whose values are made when they are first needed. */

/** The value of a key; where there is none, one that is made now and kept. */
export function getOrMake<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value,
): Value {
  const present = map.get(key);
  if (present !== undefined) return present;
  const made = make();
  map.set(key, made);
  return made;
}

/** Adds to the list that stands under a key. */
export function append<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const present = lists.get(key);
  if (present) present.push(item);
  else lists.set(key, [item]);
}

/** The items by a key of each, in their order. */
export function grouped<Key, Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) append(groups, keyOf(item), item);
  return groups;
}
