import { errnoName } from '../../../src/adapters/netlink/errors.js';
import type { NetlinkMessage } from '../../../src/adapters/netlink/message-reader.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import {
  NETLINK_NETFILTER,
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_REQUEST,
} from '../../../src/adapters/netlink/protocol.js';
import { attributesOf } from '../../../src/adapters/nftables/netlink/attribute-layout.js';
import * as nf from '../../../src/adapters/nftables/netlink/nf-tables.js';
import { recordOf, TABLE } from '../../../src/adapters/nftables/netlink/records.js';
import { putAttributes, type RawAttributes, type RawMessage } from '../../support/nftables/raw-message.js';
import { serve } from '../../support/program/driver.js';
import { FAMILY } from './strange-objects.js';

const FAMILIES = Object.values(FAMILY);
/** Tables, chains, rules, sets, objects. */
const LISTS = [nf.GETTABLE, nf.GETCHAIN, nf.GETRULE, nf.GETSET, nf.GETOBJ];

/** By name; each has a port number of its own, so that the kernel takes it for a program of its own. */
const sockets = new Map<string, NetlinkSocket>();
let sequence = 0;

function socketOf(name: string): NetlinkSocket {
  const socket = sockets.get(name) ?? NetlinkSocket.open(NETLINK_NETFILTER);
  sockets.set(name, socket);
  return socket;
}

async function list(
  socket: NetlinkSocket,
  type: number,
  family: number,
  of: RawAttributes,
  onMessage: (message: NetlinkMessage) => void,
): Promise<void> {
  const writer = new MessageWriter();
  const start = writer.beginMessage(type, NLM_F_REQUEST | NLM_F_DUMP, ++sequence);
  writer.putWord(family);
  putAttributes(writer, of);
  writer.endMessage(start);
  await socket.send(writer.bytes, writer.length);
  await socket.receiveAnswer(sequence, false, onMessage);
}

const handlers = {
  /** Sends a transaction through the socket of that name; the errors of its messages, without repetitions. */
  async send(socketName: string, messages: readonly RawMessage[]): Promise<readonly string[]> {
    const socket = socketOf(socketName);
    const writer = new MessageWriter();
    const put = (type: number, flags: number, word: number, attributes: RawAttributes = []): void => {
      const start = writer.beginMessage(type, NLM_F_REQUEST | flags, ++sequence);
      writer.putWord(word);
      putAttributes(writer, attributes);
      writer.endMessage(start);
    };
    put(nf.NFNL_MSG_BATCH_BEGIN, 0, nf.BATCH_WORD);
    for (const { type, flags = NLM_F_CREATE, family, attributes } of messages)
      put(type, flags | NLM_F_ACK, family, attributes);
    put(nf.NFNL_MSG_BATCH_END, 0, nf.BATCH_WORD);
    await socket.send(writer.bytes, writer.length);
    const errors = socket.collectReplies().replies.filter(({ errno }) => errno !== 0);
    return [
      ...new Set(errors.map(({ errno, explanation }) => [errnoName(errno), explanation].join(' ').trim())),
    ];
  },

  /** Ends the program that the socket stands for. */
  close(socketName: string): void {
    socketOf(socketName).close();
    sockets.delete(socketName);
  },

  /** The flags of the table of IPv4 of that name, if there is one. */
  async flags(name: string): Promise<readonly number[]> {
    const socket = NetlinkSocket.open(NETLINK_NETFILTER);
    const flags: number[] = [];
    await list(socket, nf.GETTABLE, FAMILY.ip, [], (message) => {
      const its = recordOf(TABLE, message);
      if (its.name === name) flags.push(its.flags ?? 0);
    });
    socket.close();
    return flags;
  },

  /** All that the kernel tells of tables of these names, byte for byte. */
  async dump(tables: readonly string[]): Promise<readonly string[]> {
    const socket = NetlinkSocket.open(NETLINK_NETFILTER);
    const found: string[] = [];
    const read = async (type: number, family: number, of: RawAttributes = []): Promise<void> => {
      const sets: RawAttributes[] = [];
      await list(socket, type, family, of, (message) => {
        const texts: string[] = [];
        const attributes = attributesOf(message);
        while (attributes.next()) if (attributes.type <= 2) texts[attributes.type] = attributes.text();
        const [, table = '', name = ''] = texts;
        if (!tables.includes(table)) return;
        found.push(message.bytes.toString('hex', message.start + 4, message.end));
        if (type === nf.GETSET)
          sets.push([
            [1, table],
            [2, name],
          ]);
      });
      for (const set of sets) await read(nf.GETSETELEM, family, set);
    };
    for (const family of FAMILIES) for (const type of LISTS) await read(type, family);
    socket.close();
    return found;
  },
};

export type NeighboursDriver = typeof handlers;

await serve(handlers);
