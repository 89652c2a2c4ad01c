import {
  NetlinkPermissionError,
  NetlinkProtocolError,
  NetlinkRequestError,
} from '../../../src/adapters/netlink/errors.js';
import { NetlinkChannel, type NetlinkRequest } from '../../../src/adapters/netlink/netlink-channel.js';
import type { NetlinkMessage } from '../../../src/adapters/netlink/message-reader.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { errorMessage, FakeLibc, plainMessage } from '../../support/fake-libc.js';

const EPERM = 1;
const ENOENT = 2;
const DONE = 3;
const INTERRUPTED = 0x10;
const request: NetlinkRequest = { type: 40, attempt: 'doing it', put: (writer) => writer.putWord(7) };

function open() {
  const sockets: FakeLibc[] = [];
  const channel = new NetlinkChannel(() => {
    const libc = new FakeLibc();
    sockets.push(libc);
    return NetlinkSocket.open(16, { libc });
  });
  return { channel, sockets };
}

/** A channel whose first socket is open already, and what it will be answered. */
async function opened(...incoming: (Buffer | number)[]) {
  const { channel, sockets } = open();
  await channel.perform([]);
  sockets[0]!.incoming = incoming;
  return { channel, sockets, libc: sockets[0]! };
}

/** Type, flags and sequence number of each message that was sent, call by call. */
const sent = (libc: FakeLibc): number[][][] =>
  libc.sent.map((bytes) => {
    const messages: number[][] = [];
    for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at))
      messages.push([bytes.readUInt16LE(at + 4), bytes.readUInt16LE(at + 6), bytes.readUInt32LE(at + 8)]);
    return messages;
  });

function withFlags(message: Buffer, flags: number): Buffer {
  message.writeUInt16LE(flags, 6);
  return message;
}

describe('a netlink channel', () => {
  it('opens its socket when it is needed', async () => {
    const { channel, sockets } = open();
    expect(sockets).toHaveLength(0);
    await Promise.all([channel.perform([]), channel.perform([])]);
    expect(sockets).toHaveLength(1);
  });

  it('sends at once when no call runs, otherwise after those before', async () => {
    const answers = [1, 2, 3].flatMap((sequence) => [errorMessage(sequence, 0), 11]);
    const { channel, libc } = await opened(...answers);
    const calls = [channel.perform([request]), channel.perform([request])];
    expect(sent(libc)).toEqual([[[40, 5, 1]]]);
    await Promise.all(calls);
    expect(sent(libc)).toHaveLength(2);
    await channel.perform([request]);
    expect(sent(libc)[2]).toEqual([[40, 5, 3]]);
  });

  const typeOf = ({ type }: NetlinkMessage): number => type;

  it('finds an object, or that there is none', async () => {
    const { channel, libc } = await opened(
      plainMessage(41, 1),
      errorMessage(2, ENOENT),
      errorMessage(3, ENOENT),
    );
    expect(await channel.find(request, [], typeOf)).toBe(41);
    expect(await channel.find(request, [ENOENT], typeOf)).toBeUndefined();
    await expect(channel.find(request, [], typeOf)).rejects.toThrow('doing it was rejected: ENOENT');
    expect(sent(libc)).toEqual([[[40, 1, 1]], [[40, 1, 2]], [[40, 1, 3]]]);
  });

  it('lists what counts, again when it was disturbed', async () => {
    const { channel, libc } = await opened(
      Buffer.concat([plainMessage(41, 1), plainMessage(42, 1)]),
      withFlags(plainMessage(DONE, 1), INTERRUPTED),
      Buffer.concat([plainMessage(42, 2), plainMessage(43, 2)]),
      plainMessage(DONE, 2),
      errorMessage(3, ENOENT),
    );
    const read = ({ type }: NetlinkMessage) => (type === 43 ? undefined : type);
    expect(await channel.list(request, read)).toEqual([42]);
    await expect(channel.list(request, read)).rejects.toThrow('doing it was rejected: ENOENT');
    expect(sent(libc)[0]).toEqual([[40, 0x301, 1]]);
  });

  it('gives a list up that is disturbed all the time', async () => {
    const { channel } = await opened(
      ...[1, 2, 3, 4, 5].map((sequence) => withFlags(plainMessage(DONE, sequence), INTERRUPTED)),
    );
    await expect(channel.list(request, typeOf)).rejects.toThrow(
      'doing it was rejected: EINTR: they changed during each of 5 attempts',
    );
  });

  it('carries one request out, or tells that there was nothing to do', async () => {
    const { channel } = await opened(
      errorMessage(1, 0),
      11,
      errorMessage(2, ENOENT),
      11,
      errorMessage(3, ENOENT),
    );
    expect(await channel.carryOut(request)).toBe(true);
    expect(await channel.carryOut(request, [ENOENT])).toBe(false);
    await expect(channel.carryOut(request)).rejects.toThrow('doing it was rejected: ENOENT');
  });

  it('lasts as long as it is used', async () => {
    const libc = new FakeLibc();
    const open = () => NetlinkSocket.open(16, { libc });
    const failed = NetlinkChannel.during(open, async (channel) => {
      await channel.perform([]);
      expect(libc.closed).toEqual([]);
      throw new Error('no use');
    });
    await expect(failed).rejects.toThrow('no use');
    expect(libc.closed).toEqual([5]);
  });

  it('performs many with one call, each with its own outcome', async () => {
    const { channel, libc } = await opened(errorMessage(1, 0), errorMessage(2, ENOENT), errorMessage(3, 0));
    const replies = await channel.perform([request, request, request]);
    expect(replies.map(({ errno }) => errno)).toEqual([0, ENOENT, 0]);
    expect(sent(libc)).toEqual([
      [
        [40, 5, 1],
        [40, 5, 2],
        [40, 5, 3],
      ],
    ]);
  });

  it('does not send more at once than can be answered', async () => {
    const acknowledgements = Array.from({ length: 256 }, (_, i) => errorMessage(i + 1, 0));
    const { channel, libc } = await opened(...acknowledgements, 11, errorMessage(257, 0));
    const replies = await channel.perform(Array.from({ length: 257 }, () => request));
    expect(replies).toHaveLength(257);
    expect(sent(libc).map(({ length }) => length)).toEqual([256, 1]);
  });

  it('goes on with another socket after a reply is missing', async () => {
    const { channel, sockets } = await opened(errorMessage(1, 0));
    await expect(channel.perform([request, request])).rejects.toThrow(NetlinkProtocolError);
    expect(sockets[0]!.closed).toEqual([5]);
    await channel.perform([]);
    expect(sockets).toHaveLength(2);
  });

  it('keeps its socket when a request is refused', async () => {
    const { channel, sockets } = await opened(errorMessage(1, ENOENT), errorMessage(2, EPERM));
    await expect(channel.list(request, () => undefined)).rejects.toThrow(NetlinkRequestError);
    await expect(channel.find(request, [], () => undefined)).rejects.toThrow(NetlinkPermissionError);
    expect(sockets).toHaveLength(1);
  });

  it('ends after what is under way', async () => {
    const { channel, libc } = await opened(errorMessage(1, 0));
    const last = channel.perform([request]);
    const closed = [channel.close(), channel.close()];
    const late = channel.perform([request]);
    await expect(last).resolves.toHaveLength(1);
    await expect(late).rejects.toThrow('the netlink socket was closed');
    await Promise.all(closed);
    expect(libc.closed).toEqual([5]);
  });
});
