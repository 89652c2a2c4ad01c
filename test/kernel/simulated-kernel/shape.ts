import { NLA, NLMSG, aligned } from '../../simulation/kernel/netlink/numbers.js';
import type { ToldMessage } from './conversation.js';

/** How messages of a protocol are read and compared. */
export interface Shape {
  /** Bytes of the protocol's own header. */
  readonly header: number;
  /** Paths of attributes that contain others, such as `1` or `1.2`. */
  readonly nests: ReadonlySet<string>;
  /** Paths of attributes that differ from kernel to kernel, and with time. */
  readonly varying: ReadonlySet<string>;
}

/** Parts of messages by their paths, in hexadecimal, to be compared. */
export type Parts = Readonly<Record<string, string>>;

/** Bits of error messages that say how much of the request they repeat. */
const NLMSGERR_HEADER = 20;

export function partsOf({ type, flags, payload }: ToldMessage, shape: Shape): Parts {
  const bytes = Buffer.from(payload, 'hex');
  const parts: Record<string, string> = { type: String(type), flags: flags.toString(16) };
  if (type === NLMSG.DONE) return parts;
  if (type === NLMSG.ERROR) {
    parts['errno'] = String(-bytes.readInt32LE(0));
    readInto(parts, bytes.subarray(NLMSGERR_HEADER), '', { ...shape, nests: new Set(), varying: new Set() });
    return parts;
  }
  parts['header'] = bytes.toString('hex', 0, shape.header);
  readInto(parts, bytes.subarray(shape.header), '', shape);
  return parts;
}

/** Only what the other one has, too. */
export function common(parts: Parts, other: Parts | undefined): Parts {
  return Object.fromEntries(Object.entries(parts).filter(([path]) => other !== undefined && path in other));
}

function readInto(parts: Record<string, string>, bytes: Buffer, before: string, shape: Shape): void {
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = bytes.readUInt16LE(at);
    const type = bytes.readUInt16LE(at + 2);
    const path = `${before}${type & NLA.TYPE_MASK}`;
    const value = bytes.subarray(at + 4, at + length);
    if (shape.nests.has(path)) {
      parts[path] = (type & ~NLA.TYPE_MASK).toString(16);
      readInto(parts, value, `${path}.`, shape);
    } else parts[path] = shape.varying.has(path) ? 'varies' : value.toString('hex');
    at += aligned(length);
  }
}
