/**
 * Writes API objects as a real API server does in protocol buffers. The field numbers stand here a second time, of more fields
 * than the proxy reads, so that the reader is not checked against its own table. Fields of other names are left out.
 */

type Shape = { readonly [name: string]: readonly [number, Type] };
type Type =
  | 'text'
  | 'number'
  | 'flag'
  | 'time'
  | 'map'
  | 'texts'
  | 'json'
  | 'number or text'
  | Shape
  | readonly [Shape];
type Values = Readonly<Record<string, unknown>>;

const owner: Shape = { kind: [1, 'text'], name: [3, 'text'], uid: [4, 'text'], apiVersion: [5, 'text'] };
const managed: Shape = {
  manager: [1, 'text'],
  operation: [2, 'text'],
  apiVersion: [3, 'text'],
  fieldsType: [6, 'text'],
  fieldsV1: [7, 'json'],
};

const metadata: Shape = {
  name: [1, 'text'],
  generateName: [2, 'text'],
  namespace: [3, 'text'],
  uid: [5, 'text'],
  resourceVersion: [6, 'text'],
  generation: [7, 'number'],
  creationTimestamp: [8, 'time'],
  deletionTimestamp: [9, 'time'],
  labels: [11, 'map'],
  annotations: [12, 'map'],
  ownerReferences: [13, [owner]],
  finalizers: [14, 'texts'],
  managedFields: [17, [managed]],
};

const port: Shape = {
  name: [1, 'text'],
  protocol: [2, 'text'],
  port: [3, 'number'],
  targetPort: [4, 'number or text'],
  nodePort: [5, 'number'],
  appProtocol: [6, 'text'],
};

const serviceSpec: Shape = {
  ports: [1, [port]],
  selector: [2, 'map'],
  clusterIP: [3, 'text'],
  type: [4, 'text'],
  externalIPs: [5, 'texts'],
  sessionAffinity: [7, 'text'],
  loadBalancerSourceRanges: [9, 'texts'],
  externalName: [10, 'text'],
  externalTrafficPolicy: [11, 'text'],
  healthCheckNodePort: [12, 'number'],
  publishNotReadyAddresses: [13, 'flag'],
  sessionAffinityConfig: [14, { clientIP: [1, { timeoutSeconds: [1, 'number'] }] }],
  ipFamilyPolicy: [17, 'text'],
  clusterIPs: [18, 'texts'],
  ipFamilies: [19, 'texts'],
  internalTrafficPolicy: [22, 'text'],
  trafficDistribution: [23, 'text'],
};

const ingress: Shape = { ip: [1, 'text'], hostname: [2, 'text'], ipMode: [3, 'text'] };

const objectReference: Shape = { kind: [1, 'text'], namespace: [2, 'text'], name: [3, 'text'] };

const endpoint: Shape = {
  addresses: [1, 'texts'],
  conditions: [2, { ready: [1, 'flag'], serving: [2, 'flag'], terminating: [3, 'flag'] }],
  hostname: [3, 'text'],
  targetRef: [4, objectReference],
  nodeName: [6, 'text'],
  zone: [7, 'text'],
  hints: [8, { forZones: [1, [{ name: [1, 'text'] }]], forNodes: [2, [{ name: [1, 'text'] }]] }],
};

const address: Shape = {
  ip: [1, 'text'],
  targetRef: [2, objectReference],
  hostname: [3, 'text'],
  nodeName: [4, 'text'],
};

const SHAPES: Readonly<Record<string, Shape>> = {
  Service: {
    metadata: [1, metadata],
    spec: [2, serviceSpec],
    status: [3, { loadBalancer: [1, { ingress: [1, [ingress]] }] }],
  },
  EndpointSlice: {
    metadata: [1, metadata],
    endpoints: [2, [endpoint]],
    ports: [3, [{ name: [1, 'text'], protocol: [2, 'text'], port: [3, 'number'], appProtocol: [4, 'text'] }]],
    addressType: [4, 'text'],
  },
  Endpoints: {
    metadata: [1, metadata],
    subsets: [
      2,
      [
        {
          addresses: [1, [address]],
          notReadyAddresses: [2, [address]],
          ports: [3, [{ name: [1, 'text'], port: [2, 'number'], protocol: [3, 'text'] }]],
        },
      ],
    ],
  },
  Node: {
    metadata: [1, metadata],
    spec: [
      2,
      {
        podCIDR: [1, 'text'],
        providerID: [3, 'text'],
        unschedulable: [4, 'flag'],
        taints: [5, [{ key: [1, 'text'], value: [2, 'text'], effect: [3, 'text'], timeAdded: [4, 'time'] }]],
        podCIDRs: [7, 'texts'],
      },
    ],
    status: [3, { phase: [3, 'text'], addresses: [5, [{ type: [1, 'text'], address: [2, 'text'] }]] }],
  },
  ServiceCIDR: { metadata: [1, metadata], spec: [2, { cidrs: [1, 'texts'] }] },
  Status: {
    status: [2, 'text'],
    message: [3, 'text'],
    reason: [4, 'text'],
    details: [
      5,
      {
        name: [1, 'text'],
        group: [2, 'text'],
        kind: [3, 'text'],
        causes: [4, [{ reason: [1, 'text'], message: [2, 'text'], field: [3, 'text'] }]],
        retryAfterSeconds: [5, 'number'],
      },
    ],
    code: [6, 'number'],
  },
};

const LIST_METADATA: Shape = {
  resourceVersion: [2, 'text'],
  continue: [3, 'text'],
  remainingItemCount: [4, 'number'],
};

/** An object or a list, in its envelope. Undefined for kinds that are not known here. */
export function encodeObject(object: Values): Buffer | undefined {
  const { kind, apiVersion } = object;
  if (typeof kind !== 'string') return undefined;
  const item = SHAPES[kind.replace(/List$/, '')];
  if (!item) return undefined;
  const raw = kind.endsWith('List')
    ? encode(object, { metadata: [1, LIST_METADATA], items: [2, [item]] })
    : encode(object, item);
  const typeMeta = Buffer.concat([part(1, String(apiVersion)), part(2, kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), part(1, typeMeta), part(2, raw), part(3, ''), part(4, '')]);
}

/** An event of a watch, as a frame. */
export function encodeEvent(type: string, object: Values): Buffer {
  const encoded = encodeObject(object);
  if (!encoded) throw new Error(`no protocol buffer is known for ${String(object.kind)}`);
  return frame(Buffer.concat([part(1, type), part(2, part(1, encoded))]));
}

/** Bytes. */
export const FRAME_LENGTH = 4;

/** Behind its length. */
export function frame(content: Buffer): Buffer {
  const length = Buffer.alloc(FRAME_LENGTH);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** A field whose value has a length. */
export function part(number: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

/** A field that is a number. */
export function numeric(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

/** Most numbers are small. */
const ONE_BYTE = Array.from({ length: 0x80 }, (_, value) => Buffer.from([value]));

/** A number; a negative one takes ten bytes. */
export function varint(value: number): Buffer {
  const small = ONE_BYTE[value];
  if (small) return small;
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

/** Objects that were encoded before: they never change, and many clients may list and watch them. */
const known = new WeakMap<object, Buffer>();
const OBJECTS = new Set(Object.values(SHAPES));

function encode(object: Values, shape: Shape): Buffer {
  const bytes = known.get(object) ?? encodeFields(object, shape);
  if (OBJECTS.has(shape)) known.set(object, bytes);
  return bytes;
}

function encodeFields(object: Values, shape: Shape): Buffer {
  return Buffer.concat(
    Object.entries(shape).flatMap(([name, [number, type]]) => {
      const value = object[name];
      return value === undefined || value === null ? [] : encodeField(number, type, value);
    }),
  );
}

function encodeField(number: number, type: Type, value: unknown): Buffer[] {
  if (type === 'text') return [part(number, value as string)];
  if (type === 'number') return [numeric(number, value as number)];
  if (type === 'flag') return [numeric(number, value === true ? 1 : 0)];
  if (type === 'time') return [part(number, numeric(1, Math.floor(Date.parse(value as string) / 1000)))];
  if (type === 'texts') return (value as string[]).map((text) => part(number, text));
  if (type === 'json') return [part(number, part(1, JSON.stringify(value)))];
  if (type === 'number or text') {
    const [isText, count, text] = typeof value === 'string' ? [1, 0, value] : [0, value as number, ''];
    return [part(number, Buffer.concat([numeric(1, isText), numeric(2, count), part(3, text)]))];
  }
  if (type === 'map')
    return Object.entries(value as Record<string, string>).map(([key, text]) =>
      part(number, Buffer.concat([part(1, key), part(2, text)])),
    );
  if (Array.isArray(type)) {
    const [member] = type as readonly [Shape];
    return (value as Values[]).map((element) => part(number, encode(element, member)));
  }
  return [part(number, encode(value as Values, type as Shape))];
}
