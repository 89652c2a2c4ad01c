import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { NetlinkNftTransport } from '../../../src/adapters/nftables/netlink/netlink-transport.js';
import * as nf from '../../../src/adapters/nftables/netlink/nf-tables.js';
import { attributesOf } from '../../../src/adapters/nftables/netlink/attribute-layout.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import {
  familyNumber,
  NETLINK_NETFILTER,
  NLM_F_DUMP,
  NLM_F_REQUEST,
} from '../../../src/adapters/netlink/protocol.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  TABLE_NAME,
  type Operation,
  type SetDefinition,
  type SetElement,
} from '../../../src/domain/nftables/layout/table.js';
import { WorkBetweenTurns } from '../../support/work-between-turns.js';
import { serve } from '../../support/program/driver.js';

/** Drives the netlink transport from inside a namespace. */
let transport = NetlinkNftTransport.open();
const watch = new GenerationWatch({ generation: () => transport.generation() });

export interface Speeds {
  readonly commitMs: number;
  readonly readMs: number;
  readonly found: number;
  readonly same: boolean;
  /** The longest time for which reading kept others from their turn. */
  /** The process's own work, in milliseconds. */
  readonly reading: { readonly longest: number; readonly total: number };
  readonly rssMb: number;
}

const endpoints: SetDefinition = {
  name: 'endpoints',
  key: ['address', 'protocol', 'port', 'priority'],
  value: ['address', 'port'],
};

const handlers = {
  commit: (family: IpFamily, operations: readonly Operation[]) => transport.commit(family, operations),

  async read(family: IpFamily, expected: readonly SetDefinition[]) {
    const state = await transport.read(family, expected);
    return (
      state && {
        chains: [...state.chains.values()],
        sets: [...state.sets].map(([name, { layout, elements }]) => ({
          name,
          layout,
          elements: [...elements.values()],
        })),
      }
    );
  },

  async lookUp(family: IpFamily, set: SetDefinition, keys: readonly string[]) {
    return [...(await transport.lookUp(family, set, keys)).values()];
  },

  generation: () => transport.generation(),

  /** The epoch after these commits of our own. */
  async epoch(...commits: (readonly Operation[])[]) {
    for (const operations of commits)
      await watch.ours(
        () => transport.commit('IPv4', operations),
        (generation) => ({ generations: generation === undefined ? [] : [generation] }),
      );
    return watch.epoch();
  },

  /** All that the kernel keeps of each set, as numbers and bytes, but for its handle. */
  async rawSets(family: IpFamily): Promise<string[]> {
    const writer = new MessageWriter();
    const start = writer.beginMessage(nf.GETSET, NLM_F_REQUEST | NLM_F_DUMP, 1);
    writer.putWord(familyNumber(family));
    writer.putText(1, TABLE_NAME);
    writer.endMessage(start);
    const socket = NetlinkSocket.open(NETLINK_NETFILTER);
    await socket.send(writer.bytes, writer.length);
    const sets: string[] = [];
    await socket.receiveAnswer(1, false, (message) => {
      const attributes = attributesOf(message);
      const parts: string[] = [];
      const handle = 16;
      while (attributes.next()) {
        if (attributes.type === 2) parts.unshift(attributes.text());
        else if (attributes.type !== handle)
          parts.push(`${attributes.type}=${attributes.value().toString('hex')}`);
      }
      sets.push(parts.join(' '));
    });
    socket.close();
    return sets;
  },

  /** From now on, replies have so little room. */
  async shrinkReceiveBuffer(receiveBuffer: number) {
    await transport.close();
    transport = NetlinkNftTransport.open(() => NetlinkSocket.open(NETLINK_NETFILTER, { receiveBuffer }));
  },

  /** Fills a map with so many endpoints in one transaction, and reads it back. */
  async fill(family: IpFamily, count: number): Promise<Speeds> {
    const prefix = family === 'IPv4' ? ['172.', '10.'] : ['fd00:10:', 'fd00:20:'];
    const address = (start: string, number: number) =>
      family === 'IPv4'
        ? `${start}${number >> 16}.${(number >> 8) & 255}.${number & 255}`
        : `${start}${Math.floor(1 + number / 10_000).toString(16)}::${(1 + (number % 10_000)).toString(16)}`;
    const elements: SetElement[] = Array.from({ length: count }, (_, index) => ({
      key: `${address(prefix[0]!, Math.floor(index / 5))} . tcp . 80 . 8000:${index % 5}`,
      value: `${address(prefix[1]!, index)} . 8080`,
    }));
    const structure: Operation[] = [
      { op: 'add-table', comment: 'rules for kube-proxy' },
      { op: 'add-set', set: endpoints },
    ];
    let before = performance.now();
    await transport.commit(family, [...structure, { op: 'add-elements', set: endpoints, elements }]);
    const commitMs = performance.now() - before;
    const work = new WorkBetweenTurns();
    before = performance.now();
    const state = await transport.read(family, [endpoints]);
    const readMs = performance.now() - before;
    const reading = work.end();
    const found = state!.sets.get(endpoints.name)!.elements;
    const same = elements.every(({ key, value }) => found.get(key)?.value === value);
    const rssMb = Math.round(process.memoryUsage().rss / 1024 / 1024);
    return { commitMs, readMs, found: found.size, same, reading, rssMb };
  },
};

export type NetlinkDriver = typeof handlers;

await serve(handlers, () => transport.close());
