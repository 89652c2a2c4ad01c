import { buffer } from 'node:stream/consumers';
import { getHeapSnapshot } from 'node:v8';

/** What the engine makes for itself, such as compiled code, comes and goes as it likes. */
const OF_VALUES: ReadonlySet<string> = new Set([
  'array',
  'string',
  'object',
  'closure',
  'number',
  'concatenated string',
  'sliced string',
  'symbol',
  'bigint',
]);

/** The part of a snapshot that is read: each node is a row of numbers. */
interface Snapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly (readonly string[])[];
    };
  };
  readonly nodes: readonly number[];
}

/** Bytes on the heap that values take which something still holds: objects, arrays, maps, strings, functions. Takes a second. */
export async function bytesOfValues(): Promise<number> {
  const { snapshot, nodes } = JSON.parse((await buffer(getHeapSnapshot())).toString()) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  let sum = 0;
  for (let row = 0; row < nodes.length; row += fields.length)
    if (OF_VALUES.has(types[type]![nodes[row + type]!]!)) sum += nodes[row + size]!;
  return sum;
}
