import type { SetElement } from '../../../../domain/nftables/layout/table.js';
import { DIGEST_LENGTH, USERDATA } from '../nf-tables.js';

export type Userdata = Pick<SetElement, 'comment' | 'digest'>;

/** The userdata of a rule or element, between these positions. */
export function readUserdata(bytes: Buffer, start = 0, end = bytes.length): Userdata {
  let comment: string | undefined;
  let digest: number | undefined;
  for (let at = start; at + 2 <= end; at += 2 + bytes[at + 1]!) {
    const [type, length] = [bytes[at], bytes[at + 1]!];
    const valueEnd = Math.min(end, at + 2 + length);
    // A text ends with a zero.
    if (type === USERDATA.COMMENT) comment = bytes.toString('utf8', at + 2, valueEnd - 1);
    else if (type === USERDATA.DIGEST && length === DIGEST_LENGTH && at + 2 + length <= end)
      digest = bytes.readDoubleLE(at + 2);
  }
  return { comment, digest };
}

/** Userdata of a table, rule or element: its comment. */
export function commentUserdata(comment: string): Buffer {
  return userdataEntry(USERDATA.COMMENT, closedText(comment));
}

export function userdataEntry(type: number, value: Uint8Array): Buffer {
  if (value.length > 255) throw new RangeError(`userdata of ${value.length} bytes`);
  return Buffer.concat([Uint8Array.of(type, value.length), value]);
}

export function closedText(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
