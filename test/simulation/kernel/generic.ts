import type { KernelSocket, NetlinkProtocol } from './netlink-protocol.js';
import { attributesIn, textOf } from './netlink/attributes.js';
import { EINVAL, ENOENT, EOPNOTSUPP, EPERM } from './netlink/numbers.js';
import { answerEach, asksForAll, refuse, type Outcome, type Request } from './netlink/requests.js';
import { tell } from './netlink/tell.js';

/** Of linux/genetlink.h. */
const CONTROLLER = 0x10;
const CTRL_CMD = { NEWFAMILY: 1, GETFAMILY: 3 } as const;
const CTRL_ATTR = { FAMILY_ID: 1, FAMILY_NAME: 2, VERSION: 3, HDRSIZE: 4, MAXATTR: 5 } as const;
/** Numbers of families before these belong to those that are always there. */
const FIRST_NUMBER = 0x1c;
/** Bytes of struct genlmsghdr. */
export const GENERIC_HEADER = 4;

/** A family of generic netlink. */
export interface GenericFamily {
  readonly name: string;
  readonly version: number;
  /** The highest type of its attributes. */
  readonly maxAttribute: number;
  /** Commands that need CAP_NET_ADMIN. */
  isRestricted(command: number): boolean;
  answer(socket: KernelSocket, request: Request, command: number): Outcome;
}

/** NETLINK_GENERIC: families by the numbers that they got when they were loaded, and what says which ones these are. */
export class Generic implements NetlinkProtocol {
  private readonly families = new Map<number, GenericFamily>();
  private nextNumber = FIRST_NUMBER;

  /** @param isPermitted whether a process has CAP_NET_ADMIN */
  constructor(private readonly isPermitted: (process: number) => boolean = () => true) {}

  /** Its module is loaded. A family gets another number each time. Nothing happens if it is there. */
  load(family: GenericFamily): void {
    if (this.numberOf(family.name) === undefined) this.families.set(this.nextNumber++, family);
  }

  unload(name: string): void {
    const number = this.numberOf(name);
    if (number !== undefined) this.families.delete(number);
  }

  handle(socket: KernelSocket, bytes: Buffer): number {
    return answerEach(socket, bytes, (request) => this.answer(socket, request));
  }

  private answer(socket: KernelSocket, request: Request): Outcome {
    if (request.payload.length < GENERIC_HEADER) return refuse(EINVAL);
    const command = request.payload[0]!;
    if (request.type === CONTROLLER) return this.find(socket, request, command);
    const family = this.families.get(request.type);
    if (!family) return refuse(ENOENT);
    if (family.isRestricted(command) && !this.isPermitted(socket.process)) return refuse(EPERM);
    return family.answer(socket, request, command);
  }

  private find(socket: KernelSocket, request: Request, command: number): Outcome {
    if (command !== CTRL_CMD.GETFAMILY || asksForAll(request)) return refuse(EOPNOTSUPP);
    const attributes = attributesIn(request.payload.subarray(GENERIC_HEADER));
    const name = attributes?.get(CTRL_ATTR.FAMILY_NAME);
    const number = name ? this.numberOf(textOf(name)) : attributes?.get(CTRL_ATTR.FAMILY_ID)?.readUInt16LE(0);
    if (number === undefined) return refuse(name ? ENOENT : EINVAL);
    const family = this.families.get(number);
    if (!family) return refuse(ENOENT);
    tell(socket, request, CONTROLLER, (builder) =>
      builder
        .raw(Buffer.of(CTRL_CMD.NEWFAMILY, 2, 0, 0))
        .text(CTRL_ATTR.FAMILY_NAME, family.name)
        .u16(CTRL_ATTR.FAMILY_ID, number)
        .u32(CTRL_ATTR.VERSION, family.version)
        .u32(CTRL_ATTR.HDRSIZE, 0)
        .u32(CTRL_ATTR.MAXATTR, family.maxAttribute),
    );
    return undefined;
  }

  private numberOf(name: string): number | undefined {
    for (const [number, family] of this.families) if (family.name === name) return number;
    return undefined;
  }
}
