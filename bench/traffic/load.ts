import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageWriter } from '../../src/adapters/netlink/message-writer.js';
import { NetlinkSocket } from '../../src/adapters/netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../../src/adapters/netlink/protocol.js';
import {
  ANSWERED,
  putEntry,
  putRemoval,
  UNANSWERED,
  type EntryToMake,
} from '../../test/support/traffic/conntrack-entries.js';
import { clusterIPOf, podAddress } from '../cluster.js';

/**
 * Fills the kernel's table of connections of a network namespace, says so, waits for a line, and then makes so many new ones
 * a second, each of which gets an answer and is gone after a second.
 */
const [count, perSecond, seconds, services, endpoints] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
  number,
];
const BATCH_BYTES = 64 * 1024;
const TURN_MS = 20;

const socket = NetlinkSocket.open(NETLINK_NETFILTER);
const writer = new MessageWriter(2 * BATCH_BYTES);

/** Connection number i, from a client and port of its own. */
function connection(i: number): EntryToMake {
  const service = i % services;
  return {
    protocol: 6,
    source: `100.${64 + (i >>> 20)}.${(i >>> 12) & 0xff}.${(i >>> 4) & 0xff}`,
    sourcePort: 20_000 + (i & 0xf),
    destination: clusterIPOf(service),
    destinationPort: 80,
    endpoint: podAddress(service, endpoints, i % endpoints),
    endpointPort: 8080,
  };
}

async function send(least = 1): Promise<void> {
  if (writer.length < least) return;
  await socket.send(writer.bytes, writer.length);
  writer.length = 0;
  const refused = socket.collectReplies().replies.find(({ errno }) => errno !== 0);
  if (refused) throw new Error(`a connection was refused: ${JSON.stringify(refused)}`);
}

for (let i = 0; i < count; i++) {
  putEntry(writer, connection(i));
  await send(BATCH_BYTES);
}
await send();
console.log('filled');
await once(createInterface({ input: process.stdin }), 'line');

const start = performance.now();
const all = perSecond * seconds;
let [made, removed] = [0, 0];
while (removed < all) {
  const due = Math.min(all, Math.floor(((performance.now() - start) / 1_000) * perSecond));
  for (; made < due; made++) {
    putEntry(writer, connection(count + made), UNANSWERED);
    putEntry(writer, connection(count + made), ANSWERED);
    await send(BATCH_BYTES);
  }
  for (const gone = made === all ? all : made - perSecond; removed < gone; removed++) {
    putRemoval(writer, connection(count + removed));
    await send(BATCH_BYTES);
  }
  await send();
  await sleep(TURN_MS);
}
console.log('done');
process.exit(0);
