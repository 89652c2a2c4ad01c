import { bytes, message, nested, readMessage, text, type Message } from './message.js';
import { WireError, WireReader } from './wire-reader.js';

/*
 * A response, and the object of each event, is `k8s\0` and a `runtime.Unknown`
 * (https://github.com/kubernetes/apimachinery/blob/master/pkg/runtime/generated.proto).
 */

/** What every object begins with. */
export const MAGIC = Buffer.from('k8s\0');

/** Field numbers of `runtime.Unknown`. */
export const TYPE_META = 1;
export const RAW = 2;

/** Kind of the object in an envelope. */
export const typeMeta: Message = message({ 2: text('kind') });

const unknown = message({ [TYPE_META]: nested('typeMeta', typeMeta), [RAW]: bytes('raw') });

/** An object whose fields are still encoded. */
export interface EncodedObject {
  /** "" if it is missing. */
  readonly kind: string;
  readonly raw: Buffer;
}

/** Opens the envelope of an object. Throws WireError. */
export function openEnvelope(encoded: Buffer): EncodedObject {
  if (!MAGIC.every((byte, index) => encoded[index] === byte))
    throw new WireError('it does not begin with "k8s\\0"');
  const envelope = readMessage(new WireReader(encoded, MAGIC.length), unknown);
  const { typeMeta: { kind = '' } = {}, raw } = envelope as { typeMeta?: { kind?: string }; raw?: Buffer };
  if (!raw) throw new WireError('the envelope is empty');
  return { kind, raw };
}
