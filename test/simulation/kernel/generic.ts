import { Refusal } from './netlink/attributes.js';
import { E } from './netlink/numbers.js';
import {
  answerEach,
  tell,
  type DUMPING,
  type KernelSocket,
  type NetlinkProtocol,
  type Request,
} from './netlink/requests.js';

/** Of linux/genetlink.h. */
const CONTROLLER = 0x10;
const CTRL_CMD = { NEWFAMILY: 1, GETFAMILY: 3 } as const;
const CTRL_ATTR = { FAMILY_ID: 1, FAMILY_NAME: 2, VERSION: 3, HDRSIZE: 4, MAXATTR: 5 } as const;
/** Numbers of families before these belong to those that are always there. */
const FIRST_NUMBER = 0x1c;
/** Bytes of struct genlmsghdr, which begins with the command. */
export const GENERIC_HEADER = 4;

/** A family of generic netlink. */
export interface GenericFamily {
  readonly name: string;
  readonly version: number;
  /** The highest type of its attributes. */
  readonly maxAttribute: number;
  answer(socket: KernelSocket, request: Request, command: number): typeof DUMPING | void;
}

/** NETLINK_GENERIC: families by the numbers that they got when they were loaded, and what says which ones these are. */
export class Generic implements NetlinkProtocol {
  private readonly families = new Map<number, GenericFamily>();
  private nextNumber = FIRST_NUMBER;

  /** Its module is loaded. A family gets another number each time. */
  load(family: GenericFamily): void {
    this.families.set(this.nextNumber++, family);
  }

  unload(name: string): void {
    for (const [number, family] of this.families) if (family.name === name) this.families.delete(number);
  }

  handle(socket: KernelSocket, bytes: Buffer): void {
    answerEach(socket, bytes, (request) => {
      const [command = 0] = request.payload;
      if (request.type === CONTROLLER) return this.find(socket, request, command);
      const family = this.families.get(request.type);
      if (!family) throw new Refusal(E.ENOENT);
      return family.answer(socket, request, command);
    });
  }

  private find(socket: KernelSocket, request: Request, command: number): void {
    if (command !== CTRL_CMD.GETFAMILY || request.isDump) throw new Refusal(E.EOPNOTSUPP);
    const name = request.attributes(GENERIC_HEADER).text(CTRL_ATTR.FAMILY_NAME);
    const [number, family] = [...this.families].find(([, { name: its }]) => its === name) ?? [];
    if (number === undefined || !family) throw new Refusal(E.ENOENT);
    tell(socket, request, CONTROLLER, (builder) =>
      builder
        .raw(Buffer.of(CTRL_CMD.NEWFAMILY, 2, 0, 0))
        .text(CTRL_ATTR.FAMILY_NAME, family.name)
        .u16(CTRL_ATTR.FAMILY_ID, number)
        .u32(CTRL_ATTR.VERSION, family.version)
        .u32(CTRL_ATTR.HDRSIZE, 0)
        .u32(CTRL_ATTR.MAXATTR, family.maxAttribute),
    );
  }
}
