import { NETLINK_NETFILTER } from '../../src/adapters/netlink/protocol.js';
import { Connections } from '../simulation/kernel/conntrack/connections.js';
import { ConntrackProtocol } from '../simulation/kernel/conntrack/conntrack-protocol.js';
import {
  COMPARE,
  CTA,
  CTA_FILTER,
  MESSAGE,
  putTuple,
  STATUS,
  type Tuple,
} from '../simulation/kernel/conntrack/ctnetlink.js';
import { HandTime, KernelUnderTest } from '../simulation/kernel/kernel-under-test.js';
import { Netfilter, SUBSYSTEM } from '../simulation/kernel/netfilter.js';
import { MessageBuilder } from '../simulation/kernel/netlink/message-builder.js';
import { AF, NLM_F } from '../simulation/kernel/netlink/numbers.js';
import { DriverBundle, Namespace } from '../support/program/in-namespace.js';
import { Compared } from './simulated-kernel/compared.js';
import { Conversation } from './simulated-kernel/conversation.js';
import type { KernelDriver } from './simulated-kernel/driver.js';
import type { Shape } from './simulated-kernel/shape.js';

const SHAPE: Shape = {
  header: 4,
  nests: new Set(['1', '1.1', '1.2', '2', '2.1', '2.2', '4', '4.1', '4.3', '9', '10', '20']),
  varying: new Set([CTA.ID, CTA.TIMEOUT, CTA.USE].map(String)),
};

let bundle: DriverBundle<KernelDriver>;
let namespace: Namespace;
let both: Compared;

beforeAll(async () => {
  bundle = await DriverBundle.make<KernelDriver>(new URL('./simulated-kernel/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('simct');
  const kernel = new KernelUnderTest();
  const time = new HandTime();
  const connections = new Connections(time);
  const multicast = kernel.sockets.multicastOf(NETLINK_NETFILTER);
  const conntrack = new ConntrackProtocol(connections, time, multicast);
  kernel.protocols.set(NETLINK_NETFILTER, new Netfilter(new Map([[SUBSYSTEM.CTNETLINK, conntrack]])));
  const simulated = new Conversation((protocol, options) => kernel.open(protocol, options));
  both = new Compared(namespace.drive(bundle), simulated, NETLINK_NETFILTER, () => SHAPE);
});
afterEach(() => namespace.close());

const builder = new MessageBuilder();

function message(
  type: number,
  flags: number,
  family: number,
  put: (builder: MessageBuilder) => void,
): Buffer {
  builder.begin(type, NLM_F.REQUEST | flags, 1, 0).raw(Buffer.of(family, 0, 0, 0));
  put(builder);
  return builder.end().take();
}

const dns: Tuple = {
  ...{ protocol: 17, source: '10.0.0.1', sourcePort: 4000 },
  ...{ destination: '10.96.0.10', destinationPort: 53 },
};
const dns6: Tuple = { ...dns, source: 'fd00::1', destination: 'fd00:96::a' };
const web: Tuple = { ...dns, protocol: 6, destinationPort: 80 };
const stream: Tuple = { ...dns, protocol: 132, destinationPort: 9000 };

function replyOf(tuple: Tuple, endpoint: string): Tuple {
  return {
    ...{ protocol: tuple.protocol, source: endpoint, sourcePort: 8080 },
    ...{ destination: tuple.source, destinationPort: tuple.sourcePort },
  };
}

interface Entry {
  readonly endpoint?: string;
  readonly status?: number;
  readonly zone?: number;
  readonly state?: number;
  readonly flags?: number;
}

const familyOf = ({ source }: Tuple): number => (source.includes(':') ? AF.INET6 : AF.INET);

function making(tuple: Tuple, entry: Entry = {}): Buffer {
  const { status = STATUS.CONFIRMED, zone, state, flags = NLM_F.CREATE } = entry;
  const endpoint = entry.endpoint ?? (familyOf(tuple) === AF.INET ? '10.244.1.5' : 'fd00:244::5');
  return message(MESSAGE.NEW, flags | NLM_F.ACK, familyOf(tuple), () => {
    putTuple(builder, CTA.TUPLE_ORIG, tuple);
    putTuple(builder, CTA.TUPLE_REPLY, replyOf(tuple, endpoint));
    builder.be32(CTA.TIMEOUT, 3600).be32(CTA.STATUS, status);
    builder.be16(CTA.ZONE, zone);
    if (state !== undefined) builder.nest(CTA.PROTOINFO, () => builder.nest(1, () => builder.u8(1, state)));
  });
}

const finding = (type: number, tuple: Tuple, more = (): void => {}): Buffer =>
  message(type, NLM_F.ACK, familyOf(tuple), () => {
    putTuple(builder, CTA.TUPLE_ORIG, tuple);
    more();
  });

const listing = (family: number, more = (): void => {}): Buffer =>
  message(MESSAGE.GET, NLM_F.DUMP, family, more);

it('makes, changes, finds and lists connections of both families', async () => {
  await both.ask(listing(AF.INET));
  for (const tuple of [dns, dns6, web, stream])
    await both.ask(making(tuple, { state: tuple === web ? 3 : 0 }));
  for (const tuple of [dns, dns6, web]) await both.ask(finding(MESSAGE.GET, tuple));
  await both.ask(finding(MESSAGE.GET, replyOf(dns, '10.244.1.5')));
  await both.ask(finding(MESSAGE.GET, replyOf(dns, '10.244.1.6')));
  await both.ask(listing(AF.INET6));
  await both.ask(making(dns, { flags: NLM_F.CREATE | NLM_F.EXCL }));
  await both.ask(making(dns, { status: STATUS.CONFIRMED | STATUS.SEEN_REPLY | STATUS.ASSURED }));
  await both.ask(finding(MESSAGE.GET, dns));
  await both.ask(making(dns, { status: STATUS.CONFIRMED }));
  await both.ask(making({ ...dns, sourcePort: 4001 }, { flags: 0 }));
  await both.ask(making({ ...dns, destination: '10.96.0.11' }));
});

it('removes connections, by their tuples and ids, and those of a zone', async () => {
  await both.ask(making(dns));
  await both.ask(making(web, { zone: 3, state: 3 }));
  await both.ask(finding(MESSAGE.DELETE, dns, () => builder.be32(CTA.ID, 1)));
  await both.ask(finding(MESSAGE.DELETE, web));
  await both.ask(finding(MESSAGE.DELETE, web, () => builder.be16(CTA.ZONE, 3)));
  await both.ask(finding(MESSAGE.DELETE, dns));
  await both.ask(finding(MESSAGE.DELETE, dns));
});

it('removes everything when nothing is named', async () => {
  for (const tuple of [dns, dns6]) await both.ask(making(tuple));
  await both.ask(message(MESSAGE.DELETE, NLM_F.ACK, AF.INET, () => {}));
  await both.ask(listing(AF.INET6));
  for (const tuple of [dns, dns6]) await both.ask(making(tuple));
  const ofOneFamily = message(MESSAGE.DELETE, NLM_F.ACK, AF.INET, () => {});
  ofOneFamily[17] = 1;
  await both.ask(ofOneFamily);
  await both.ask(listing(AF.INET));
  await both.ask(listing(AF.INET6));
});

it('compares tuples, the wrong way round where these are addresses of IPv6', async () => {
  for (const tuple of [dns, dns6, web]) await both.ask(making(tuple, { state: tuple === web ? 3 : 0 }));
  const filtered = (tuple: Tuple, parts: number): Buffer =>
    listing(familyOf(tuple), () => {
      putTuple(builder, CTA.TUPLE_ORIG, tuple);
      const flags = Buffer.alloc(4);
      flags.writeUInt32LE(parts);
      builder.nest(CTA.FILTER, () => builder.attribute(CTA_FILTER.ORIG_FLAGS, flags));
    });
  const frontend = COMPARE.DESTINATION | COMPARE.PROTOCOL | COMPARE.DESTINATION_PORT;
  await both.ask(filtered(dns, frontend));
  await both.ask(filtered(web, frontend));
  await both.ask(filtered({ ...dns, destination: '10.96.0.11' }, frontend));
  await both.ask(filtered(dns, COMPARE.PROTOCOL));
  await both.ask(filtered(dns, COMPARE.DESTINATION_PORT));
  await both.ask(filtered(dns6, frontend));
  await both.ask(filtered({ ...dns6, destination: 'fd00:96::b' }, frontend));
  await both.ask(filtered(dns, 1 << 20));
});

it('refuses what is incomplete', async () => {
  const part = (family: number, put: () => void): Buffer => message(MESSAGE.GET, 0, family, put);
  await both.ask(part(AF.INET, () => {}));
  await both.ask(part(0, () => putTuple(builder, CTA.TUPLE_ORIG, dns)));
  await both.ask(part(AF.INET6, () => putTuple(builder, CTA.TUPLE_ORIG, dns)));
  await both.ask(part(AF.INET, () => builder.nest(CTA.TUPLE_ORIG, () => {})));
  await both.ask(
    message(MESSAGE.NEW, NLM_F.CREATE, AF.INET, () =>
      putTuple(builder, CTA.TUPLE_ORIG, { ...dns, sourcePort: 5 }),
    ),
  );
  await both.ask(message(0x01_7f, NLM_F.ACK, AF.INET, () => {}));
  await both.ask(message(0x5a_00, NLM_F.ACK, AF.INET, () => {}));
});

it('tells of what begins, changes and ends', async () => {
  await both.hear(0b111);
  await both.ask(making(dns));
  await both.ask(making(web, { state: 3 }));
  await both.ask(making(dns, { status: STATUS.CONFIRMED | STATUS.SEEN_REPLY }));
  await both.ask(finding(MESSAGE.DELETE, dns));
  await both.ask(finding(MESSAGE.DELETE, web));
  expect(await both.heard()).toBe(5);
});
