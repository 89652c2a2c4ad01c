import { NO_PROCESS, type Change } from './change.js';
import type { KernelSocket, NetlinkProtocol } from './netlink-protocol.js';
import { attributesIn, textOf } from './netlink/attributes.js';
import { dump } from './netlink/dump.js';
import type { MessageBuilder } from './netlink/message-builder.js';
import { EBUSY, EEXIST, EINVAL, ENOENT, NLM_F_EXCL, NLM_F_MULTI, NLM_F_REPLACE } from './netlink/numbers.js';
import { Refusals } from './netlink/refusals.js';
import { answerEach, asksForAll, outcomeOf, refuse, type Outcome, type Request } from './netlink/requests.js';
import { tell } from './netlink/tell.js';

/** Of linux/netfilter/nfnetlink_acct.h. */
const SUBSYSTEM = 7 << 8;
const MESSAGE = { NEW: SUBSYSTEM, GET: SUBSYSTEM | 1, DELETE: SUBSYSTEM | 3 } as const;
const ATTRIBUTE = { NAME: 1, PACKETS: 2, BYTES: 3, USE: 4 } as const;
/** NFACCT_NAME_MAX, with the zero byte. */
const LONGEST_NAME = 32;

/** A named counter that rules may add to. */
export interface AccountingObject {
  readonly name: string;
  packets: number;
  bytes: number;
  /** How many rules add to it. */
  users: number;
}

/** The subsystem nfacct of nfnetlink. */
export class Accounting implements NetlinkProtocol {
  readonly objects = new Map<string, AccountingObject>();
  onChange: (change: Change) => void = () => {};
  private readonly refusals = new Refusals();

  /** The next requests of any kind are refused. */
  refuseNext(errno: number, count = 1): void {
    this.refusals.add(errno, count);
  }

  /** Nothing is refused any more without a reason. */
  endTrouble(): void {
    this.refusals.clear();
  }

  /** Makes a counter; an errno where it is there. */
  add(name: string, process = NO_PROCESS): number {
    if (this.objects.has(name)) return EBUSY;
    this.objects.set(name, { name, packets: 0, bytes: 0, users: 0 });
    this.onChange({ process });
    return 0;
  }

  /** An errno where it is not there, or rules use it. */
  remove(name: string, process = NO_PROCESS): number {
    const object = this.objects.get(name);
    if (!object) return ENOENT;
    if (object.users > 0) return EBUSY;
    this.objects.delete(name);
    this.onChange({ process });
    return 0;
  }

  handle(socket: KernelSocket, bytes: Buffer): number {
    return answerEach(socket, bytes, (request) => this.refusals.next() ?? this.answer(socket, request));
  }

  private answer(socket: KernelSocket, request: Request): Outcome {
    const attributes = attributesIn(request.payload.subarray(4));
    if (!attributes) return refuse(EINVAL);
    if (request.type === MESSAGE.GET && asksForAll(request)) return this.list(socket, request);
    const given = attributes.get(ATTRIBUTE.NAME);
    const name = given ? textOf(given) : '';
    if (name === '' || name.length >= LONGEST_NAME) return refuse(EINVAL);
    switch (request.type) {
      case MESSAGE.NEW:
        return this.make(
          socket.process,
          request,
          name,
          attributes.get(ATTRIBUTE.PACKETS),
          attributes.get(ATTRIBUTE.BYTES),
        );
      case MESSAGE.GET:
        return this.tell(socket, request, name);
      case MESSAGE.DELETE:
        return outcomeOf(this.remove(name, socket.process));
      default:
        return refuse(EINVAL);
    }
  }

  private make(process: number, { flags }: Request, name: string, packets?: Buffer, bytes?: Buffer): Outcome {
    const there = this.objects.get(name);
    if (there && (flags & NLM_F_EXCL) !== 0) return refuse(EEXIST);
    if (there && (flags & NLM_F_REPLACE) !== 0) {
      Object.assign(there, { packets: 0, bytes: 0 });
      this.onChange({ process });
      return undefined;
    }
    const errno = this.add(name, process);
    if (errno === 0)
      Object.assign(this.objects.get(name)!, { packets: numberOf(packets), bytes: numberOf(bytes) });
    return outcomeOf(errno);
  }

  private tell(socket: KernelSocket, request: Request, name: string): Outcome {
    const object = this.objects.get(name);
    if (!object) return refuse(ENOENT);
    // The kernel says so although there are no others.
    tell(socket, request, MESSAGE.NEW, (builder) => put(builder, object), NLM_F_MULTI);
    return undefined;
  }

  private list(socket: KernelSocket, request: Request): Outcome {
    const left = this.objects.values();
    const next = (): AccountingObject | undefined => left.next().value;
    return dump(socket, request, { next, put, type: MESSAGE.NEW });
  }
}

function put(builder: MessageBuilder, { name, packets, bytes, users }: AccountingObject): void {
  builder.raw(Buffer.alloc(4)).text(ATTRIBUTE.NAME, name).be64(ATTRIBUTE.PACKETS, packets);
  builder.be64(ATTRIBUTE.BYTES, bytes).be32(ATTRIBUTE.USE, users + 1);
}

function numberOf(bytes: Buffer | undefined): number {
  return bytes?.length === 8 ? Number(bytes.readBigUInt64BE(0)) : 0;
}
