import { NO_PROCESS, type Change } from './change.js';
import { Refusal, refuseUnlessZero } from './netlink/attributes.js';
import type { MessageBuilder } from './netlink/message-builder.js';
import { E, NLM_F } from './netlink/numbers.js';
import {
  answerEach,
  dump,
  FaultyProtocol,
  tell,
  type DUMPING,
  type KernelSocket,
  type NetlinkProtocol,
  type Request,
} from './netlink/requests.js';

/** Of linux/netfilter/nfnetlink_acct.h. */
const MESSAGE = { NEW: 0x700, GET: 0x701 } as const;
const ATTRIBUTE = { NAME: 1, PACKETS: 2, BYTES: 3, USE: 4 } as const;
/** NFACCT_NAME_MAX, with the zero byte. */
const LONGEST_NAME = 32;

/** A named counter that rules may add to. */
interface AccountingObject {
  readonly name: string;
  packets: number;
  bytes: number;
}

/** The subsystem nfacct of nfnetlink, as far as the program asks for it: counters are made and read. */
export class Accounting extends FaultyProtocol implements NetlinkProtocol {
  readonly objects = new Map<string, AccountingObject>();
  onChange: (change: Change) => void = () => {};

  /** Makes a counter; an errno where it is there. */
  add(name: string, process = NO_PROCESS, packets = 0, bytes = 0): number {
    if (this.objects.has(name)) return E.EBUSY;
    this.objects.set(name, { name, packets, bytes });
    this.onChange({ process });
    return 0;
  }

  handle(socket: KernelSocket, bytes: Buffer): void {
    answerEach(socket, bytes, (request) => {
      this.meet(false);
      return this.answer(socket, request);
    });
  }

  private answer(socket: KernelSocket, request: Request): typeof DUMPING | void {
    const { type } = request;
    if (type === MESSAGE.GET && request.isDump)
      return dump(socket, request, { items: this.objects.values(), put, type: MESSAGE.NEW });
    const attributes = request.attributes(4);
    const name = attributes.text(ATTRIBUTE.NAME) ?? '';
    if (name === '' || name.length >= LONGEST_NAME) throw new Refusal(E.EINVAL);
    const object = this.objects.get(name);
    if (type === MESSAGE.GET) {
      if (!object) throw new Refusal(E.ENOENT);
      // The kernel says so although there are no others.
      return tell(socket, request, MESSAGE.NEW, (builder) => put(builder, object), NLM_F.MULTI);
    }
    if (type !== MESSAGE.NEW) throw new Refusal(E.EINVAL);
    if (object && request.has(NLM_F.EXCL)) throw new Refusal(E.EEXIST);
    const [packets, size] = [attributes.be64(ATTRIBUTE.PACKETS), attributes.be64(ATTRIBUTE.BYTES)];
    refuseUnlessZero(this.add(name, socket.process, packets, size));
  }
}

function put(builder: MessageBuilder, { name, packets, bytes }: AccountingObject): void {
  builder.raw(Buffer.alloc(4)).text(ATTRIBUTE.NAME, name).be64(ATTRIBUTE.PACKETS, packets);
  builder.be64(ATTRIBUTE.BYTES, bytes).be32(ATTRIBUTE.USE, 1);
}
