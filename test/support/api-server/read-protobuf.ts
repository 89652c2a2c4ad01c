/**
 * Reads what kubectl and helm send in protocol buffers, with the fields that they set: Secrets, Pods to debug a node with, and
 * options of deletions, which count for nothing here.
 */
export function decodeBody(bytes: Buffer): object {
  const envelope = fieldsOf(bytes.subarray(MAGIC.length));
  const { apiVersion, kind } = decode(only(envelope, 1), { apiVersion: [1, 'text'], kind: [2, 'text'] });
  if (kind === 'DeleteOptions') return { kind };
  const shape = SHAPES[kind as string];
  if (!shape) throw new Error(`the stand-in does not read protocol buffers of ${String(kind)}`);
  return { apiVersion, kind, ...decode(only(envelope, 2), shape) };
}

const MAGIC = Buffer.from('k8s\0');

export function isProtobuf(bytes: Buffer): boolean {
  return bytes.subarray(0, MAGIC.length).equals(MAGIC);
}

type Shape = { readonly [name: string]: readonly [number, Type] };
type Type = 'text' | 'flag' | 'texts' | 'map' | 'bytes' | Shape | readonly [Shape];

const metadata: Shape = {
  name: [1, 'text'],
  namespace: [3, 'text'],
  labels: [11, 'map'],
  annotations: [12, 'map'],
};

const SHAPES: Readonly<Record<string, Shape>> = {
  Secret: { metadata: [1, metadata], data: [2, 'bytes'], type: [3, 'text'] },
  Pod: {
    metadata: [1, metadata],
    spec: [
      2,
      {
        containers: [
          2,
          [
            {
              name: [1, 'text'],
              image: [2, 'text'],
              command: [3, 'texts'],
              args: [4, 'texts'],
              securityContext: [15, { privileged: [2, 'flag'] }],
            },
          ],
        ],
        restartPolicy: [3, 'text'],
        nodeName: [10, 'text'],
        hostNetwork: [11, 'flag'],
        hostPID: [12, 'flag'],
      },
    ],
  },
};

interface Field {
  readonly number: number;
  readonly value: Buffer | number;
}

function fieldsOf(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const number = varint();
    const value = key % 8 === 0 ? number : bytes.subarray(at, (at += number));
    fields.push({ number: Math.floor(key / 8), value });
  }
  return fields;
}

function only(fields: readonly Field[], number: number): Buffer {
  const value = fields.find((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

/** The fields of a shape that were sent; empty ones count as not sent. */
function decode(bytes: Buffer, shape: Shape): Record<string, unknown> {
  const sent = fieldsOf(bytes);
  const decoded = Object.entries(shape).map(([name, [number, type]]): [string, unknown] => [
    name,
    decodeValues(
      sent.filter((field) => field.number === number).map(({ value }) => value),
      type,
    ),
  ]);
  return Object.fromEntries(decoded.filter(([, value]) => value !== undefined && value !== ''));
}

function decodeValues(values: readonly (Buffer | number)[], type: Type): unknown {
  if (values.length === 0) return undefined;
  const [first] = values as readonly [Buffer | number];
  if (type === 'text') return first.toString();
  if (type === 'flag') return first !== 0;
  const buffers = values as readonly Buffer[];
  if (type === 'texts') return buffers.map(String);
  if (type === 'map' || type === 'bytes') {
    const encoding = type === 'bytes' ? 'base64' : 'utf8';
    return Object.fromEntries(
      buffers.map((entry) => [
        only(fieldsOf(entry), 1).toString(),
        only(fieldsOf(entry), 2).toString(encoding),
      ]),
    );
  }
  if (Array.isArray(type)) return buffers.map((each) => decode(each, (type as readonly [Shape])[0]));
  return decode(buffers[0]!, type as Shape);
}
