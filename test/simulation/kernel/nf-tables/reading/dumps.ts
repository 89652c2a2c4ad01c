import type { KernelSocket } from '../../netlink/requests.js';
import { MessageBuilder } from '../../netlink/message-builder.js';
import { E, NLMSG, NLM_F } from '../../netlink/numbers.js';
import { MSG } from '../numbers.js';
import { putElement, putElements } from '../messages.js';
import type { NftSet } from '../objects.js';
import { message, type Addressee } from './answer-builder.js';

/** The number of the last transaction, and the time. */
export interface Now {
  readonly generation: () => number;
  readonly time: () => number;
}

/** What is listed: all there is when a datagram is made, and how each is told of. */
export interface Listing<T> {
  readonly all: () => Iterable<T>;
  readonly kind: number;
  readonly familyOf: (item: T) => number;
  readonly put: (builder: MessageBuilder, item: T) => void;
}

/**
 * The datagrams of a dump. It finds its place again by counting, so what comes and goes meanwhile makes it skip or repeat something;
 * the first message after a transaction says so.
 */
export function* dumpOf<T>(
  socket: KernelSocket,
  to: Addressee,
  now: Now,
  listing: Listing<T>,
): Generator<Buffer, void> {
  const marks = new Interruptions(now);
  for (let told = 0; ;) {
    const parts: Buffer[] = [];
    let size = 0;
    let index = 0;
    for (const item of listing.all()) {
      if (index++ < told) continue;
      const { kind, familyOf, put } = listing;
      const part = message(to, kind, NLM_F.MULTI, familyOf(item), now.generation(), (builder) =>
        put(builder, item),
      );
      if (size > 0 && size + part.length > socket.room) break;
      parts.push(marks.marked(part));
      size += part.length;
      told++;
    }
    if (parts.length === 0) break;
    yield Buffer.concat(parts);
  }
  yield marks.marked(done(to, 0));
}

/** The datagrams of a dump of elements. Transactions that come between are not told of, but for the number in each message. */
export function* elementDumpOf(
  socket: KernelSocket,
  to: Addressee,
  now: Now,
  find: () => NftSet | undefined,
): Generator<Buffer, void> {
  for (let told = 0; ;) {
    const set = find();
    if (!set) return void (yield done(to, E.ENOENT));
    const before = told;
    const part = message(to, MSG.NEWSETELEM, NLM_F.MULTI, set.table.family, now.generation(), (builder) =>
      putElements(builder, set, () => {
        let index = 0;
        const time = now.time();
        for (const element of set.elements.values()) {
          if (element.expires <= time || index++ < told) continue;
          if (builder.length + MOST_FOR_ELEMENT > socket.room) break;
          putElement(builder, set, element, time);
          told++;
        }
      }),
    );
    if (told > before) yield part;
    else return void (yield Buffer.concat([part, done(to, 0)]));
  }
}

/** No element takes more in a message. */
const MOST_FOR_ELEMENT = 640;

/** Marks what is told after a transaction that came between. */
class Interruptions {
  private seen: number;

  constructor(private readonly now: Now) {
    this.seen = now.generation();
  }

  marked(part: Buffer): Buffer {
    const generation = this.now.generation();
    if (generation !== this.seen) part.writeUInt16LE(part.readUInt16LE(6) | NLM_F.DUMP_INTR, 6);
    this.seen = generation;
    return part;
  }
}

const builder = new MessageBuilder();

function done({ port, sequence }: Addressee, errno: number): Buffer {
  const error = Buffer.alloc(4);
  error.writeInt32LE(-errno);
  return builder.begin(NLMSG.DONE, NLM_F.MULTI, sequence, port).raw(error).end().take();
}
