import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeHeapSnapshot } from 'node:v8';

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
  const { snapshot, nodes } = await heapSnapshot();
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  let sum = 0;
  for (let row = 0; row < nodes.length; row += fields.length)
    if (OF_VALUES.has(types[type]![nodes[row + type]!]!)) sum += nodes[row + size]!;
  return sum;
}

/** By way of a file: the stream of a snapshot never ends on Node 20.19.0. */
async function heapSnapshot(): Promise<Snapshot> {
  const folder = await mkdtemp(join(tmpdir(), 'heap-'));
  try {
    const file = writeHeapSnapshot(join(folder, 'it.heapsnapshot'));
    return JSON.parse(await readFile(file, 'utf8')) as Snapshot;
  } finally {
    await rm(folder, { recursive: true });
  }
}
