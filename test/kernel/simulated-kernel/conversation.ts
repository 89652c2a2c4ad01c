import type { NetlinkSocket, NetlinkSocketOptions } from '../../../src/adapters/netlink/netlink-socket.js';

/** A message of a kernel. */
export interface ToldMessage {
  readonly type: number;
  readonly flags: number;
  /** What follows struct nlmsghdr, in hexadecimal. */
  readonly payload: string;
}

/** Messages to a kernel as they are, and what it answers and tells. */
export class Conversation {
  private readonly asking = new Map<number, NetlinkSocket>();
  private readonly hearing = new Map<number, NetlinkSocket>();

  constructor(private readonly open: (protocol: number, options?: NetlinkSocketOptions) => NetlinkSocket) {}

  /** @param request one message or several, in hexadecimal */
  async ask(protocol: number, request: string): Promise<readonly ToldMessage[]> {
    const socket = this.asking.get(protocol) ?? this.open(protocol);
    this.asking.set(protocol, socket);
    const bytes = Buffer.from(request, 'hex');
    await socket.send(bytes, bytes.length);
    return collect(socket);
  }

  /** From now on what these groups are told is kept. */
  hear(protocol: number, groups: number): void {
    this.hearing.set(protocol, this.open(protocol, { groups }));
  }

  heard(protocol: number): readonly ToldMessage[] {
    return collect(this.hearing.get(protocol)!);
  }

  close(): void {
    for (const socket of [...this.asking.values(), ...this.hearing.values()]) socket.close();
  }
}

function collect(socket: NetlinkSocket): readonly ToldMessage[] {
  const told: ToldMessage[] = [];
  socket.collectMessages(({ type, flags, bytes, start, end }) => {
    told.push({ type, flags, payload: bytes.toString('hex', start, end) });
  });
  return told;
}
