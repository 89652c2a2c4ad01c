import type { Encoding } from '../encoding/encoding.js';
import { openEnvelope } from './envelope.js';
import { readMessage } from './message.js';
import { statusMessage } from './objects.js';
import { ProtobufListDecoder } from './protobuf-list-decoder.js';
import { ProtobufWatchDecoder } from './protobuf-watch-decoder.js';
import { WireError, WireReader } from './wire-reader.js';

/** Objects as Kubernetes encodes them in protocol buffers; of each, only what `domain/decode` reads is decoded. */
export const protobufEncoding: Encoding = {
  listDecoder: (kind, onUnreadable) => new ProtobufListDecoder(kind, onUnreadable),
  watchDecoder: (kind) => new ProtobufWatchDecoder(kind),
  status: decodeStatus,
};

function decodeStatus(body: Buffer): object {
  const { kind, raw } = openEnvelope(body);
  if (kind !== 'Status') throw new WireError(`its kind is ${JSON.stringify(kind)}, not "Status"`);
  return readMessage(new WireReader(raw), statusMessage);
}
