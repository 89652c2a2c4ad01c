import { NETLINK_ROUTE } from '../../src/adapters/netlink/protocol.js';
import { KernelUnderTest } from '../simulation/kernel/kernel-under-test.js';
import { addressBytes, familyOf } from '../simulation/kernel/netlink/addresses.js';
import { MessageBuilder } from '../simulation/kernel/netlink/message-builder.js';
import { AF, NLM_F } from '../simulation/kernel/netlink/numbers.js';
import { Links } from '../simulation/kernel/route/links.js';
import {
  GROUP,
  IFA,
  IFLA,
  IFLA_INFO_KIND,
  RouteProtocol,
  RTM,
} from '../simulation/kernel/route/route-protocol.js';
import { DriverBundle, Namespace } from '../support/program/in-namespace.js';
import { until } from '../support/until.js';
import { Compared } from './simulated-kernel/compared.js';
import { Conversation, type ToldMessage } from './simulated-kernel/conversation.js';
import type { KernelDriver } from './simulated-kernel/driver.js';
import type { Shape } from './simulated-kernel/shape.js';

/** RTA_DST. */
const DESTINATION = 1;
const HARDWARE = [IFLA.ADDRESS, IFLA.BROADCAST].map(String);
const LINK: Shape = { header: 16, nests: new Set(['18']), varying: new Set(HARDWARE) };
const ADDRESS: Shape = { header: 8, nests: new Set(), varying: new Set() };

const shapeOf = (type: number): Shape => (type < RTM.NEWADDR ? LINK : ADDRESS);

let bundle: DriverBundle<KernelDriver>;
let namespace: Namespace;
let links: Links;
let both: Compared;

beforeAll(async () => {
  bundle = await DriverBundle.make<KernelDriver>(new URL('./simulated-kernel/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('simrt');
  // The real kernel of this machine has no devices of type dummy, and puts other devices into new namespaces.
  await namespace.run([
    'sh',
    '-c',
    'for one in $(ls /sys/class/net); do ip link delete $one 2>/dev/null || true; done',
  ]);
  const kernel = new KernelUnderTest();
  links = new Links();
  kernel.protocols.set(NETLINK_ROUTE, new RouteProtocol(links, kernel.sockets.multicastOf(NETLINK_ROUTE)));
  const simulated = new Conversation((protocol, options) => kernel.open(protocol, options));
  const driver = namespace.drive(bundle);
  both = new Compared(driver, simulated, NETLINK_ROUTE, shapeOf);
});
afterEach(() => namespace.close());

const builder = new MessageBuilder();

function message(type: number, flags: number, header: Buffer, put = (): void => {}): Buffer {
  builder.begin(type, NLM_F.REQUEST | flags, 1, 0).raw(header);
  put();
  return builder.end().take();
}

function linkHeader(index = 0): Buffer {
  const header = Buffer.alloc(16);
  header.writeInt32LE(index, 4);
  return header;
}

const MAKE = NLM_F.ACK | NLM_F.CREATE | NLM_F.EXCL;
const named = (type: number, name: string, flags = 0): Buffer =>
  message(type, flags, linkHeader(), () => builder.text(IFLA.IFNAME, name));

function address(
  type: number,
  text: string,
  { device = 1, length = familyOf(text) === AF.INET ? 32 : 128, flags = MAKE, family = familyOf(text) } = {},
): Buffer {
  const header = Buffer.of(family, length, 0, 0, device, 0, 0, 0);
  return message(type, flags, header, () => {
    builder.attribute(IFA.LOCAL, addressBytes(text)).attribute(IFA.ADDRESS, addressBytes(text));
  });
}

const listing = (family: number): Buffer =>
  message(RTM.GETADDR, NLM_F.DUMP, Buffer.of(family, 0, 0, 0, 0, 0, 0, 0));

/** The kernel finds out in the background whether somebody else has an address of IPv6. */
function addressesSettled(): Promise<void> {
  const tentative = ['ip', '-6', 'address', 'show', 'tentative'];
  return until('addresses are settled', async () => (await namespace.run(tentative)) === '');
}

it('finds devices by names and numbers, and lists them', async () => {
  await both.ask(named(RTM.GETLINK, 'lo'));
  await both.ask(message(RTM.GETLINK, 0, linkHeader(1)));
  await both.ask(named(RTM.GETLINK, 'kube-ipvs0'));
  await both.ask(message(RTM.GETLINK, 0, linkHeader(77)));
  await both.ask(message(RTM.GETLINK, 0, linkHeader(-3)));
  await both.ask(message(RTM.GETLINK, 0, linkHeader()));
  await both.ask(named(RTM.GETLINK, 'a-name-that-is-too-long'));
  await both.ask(message(RTM.GETLINK, NLM_F.DUMP, linkHeader()));
});

it('refuses devices of types that it does not know, those that exist, and those that cannot go', async () => {
  const make = (name: string, kind: string): Buffer =>
    message(RTM.NEWLINK, MAKE, linkHeader(), () => {
      builder.text(IFLA.IFNAME, name);
      builder.plainNest(IFLA.LINKINFO, () => builder.text(IFLA_INFO_KIND, kind));
    });
  await both.ask(make('strange0', 'strange'));
  await both.ask(make('lo', 'veth'));
  await both.ask(named(RTM.DELLINK, 'lo', NLM_F.ACK));
  await both.ask(named(RTM.DELLINK, 'kube-ipvs0', NLM_F.ACK));
  await both.ask(message(RTM.DELLINK, NLM_F.ACK, linkHeader(9)));
});

it('adds, lists and removes addresses of both families', async () => {
  for (const text of ['10.96.0.1', 'fd00:96::1', '10.96.0.2', 'fe80::7'])
    await both.ask(address(RTM.NEWADDR, text));
  await both.ask(address(RTM.NEWADDR, '192.0.2.1', { length: 24 }));
  await both.ask(address(RTM.NEWADDR, '2001:db8::1', { length: 64 }));
  await addressesSettled();
  for (const family of [AF.UNSPEC, AF.INET, AF.INET6]) await both.ask(listing(family));
  for (const text of ['10.96.0.1', 'fd00:96::1']) {
    await both.ask(address(RTM.NEWADDR, text));
    await both.ask(address(RTM.NEWADDR, text, { flags: NLM_F.ACK | NLM_F.CREATE | NLM_F.REPLACE }));
    await both.ask(address(RTM.DELADDR, text, { length: 17, flags: NLM_F.ACK }));
    await both.ask(address(RTM.DELADDR, text, { flags: NLM_F.ACK }));
    await both.ask(address(RTM.DELADDR, text, { flags: NLM_F.ACK }));
  }
  await both.ask(listing(AF.UNSPEC));
});

it('refuses addresses without a device, and those that are none', async () => {
  for (const text of ['10.96.0.1', 'fd00:96::1']) {
    for (const device of [0, 99]) {
      await both.ask(address(RTM.NEWADDR, text, { device }));
      await both.ask(address(RTM.DELADDR, text, { device, flags: NLM_F.ACK }));
    }
    await both.ask(address(RTM.NEWADDR, text, { length: 129 }));
  }
  await both.ask(message(RTM.NEWADDR, MAKE, Buffer.of(AF.INET, 32, 0, 0, 1, 0, 0, 0)));
  await both.ask(message(RTM.NEWADDR, MAKE, Buffer.of(AF.INET6, 128, 0, 0, 1, 0, 0, 0)));
});

it('tells of addresses that come and go', async () => {
  await both.hear((1 << (GROUP.IPV4_ADDRESS - 1)) | (1 << (GROUP.IPV6_ADDRESS - 1)));
  for (const text of ['10.96.0.1', 'fd00:96::1']) await both.ask(address(RTM.NEWADDR, text));
  expect(await both.heard()).toBe(3);
  for (const text of ['10.96.0.1', 'fd00:96::1'])
    await both.ask(address(RTM.DELADDR, text, { flags: NLM_F.ACK }));
  expect(await both.heard()).toBe(2);
});

it('tells of devices that come and go, with their addresses', async () => {
  await namespace.run(['ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'other0']);
  links.addLink({ name: 'other0', kind: 'veth', flags: 0x1002 });
  links.addLink({ name: 'eth0', kind: 'veth', flags: 0x1002 });
  for (const text of ['10.96.0.1', 'fd00:96::1']) await both.ask(address(RTM.NEWADDR, text, { device: 3 }));
  await both.hear(0x111);
  await both.ask(named(RTM.DELLINK, 'eth0', NLM_F.ACK));
  const ofDevice = ({ type, payload }: ToldMessage): boolean =>
    type === RTM.DELADDR || (type === RTM.DELLINK && payload.startsWith('03000000', 8));
  expect(await both.heard(ofDevice)).toBe(3);
});

it('has no routes', async () => {
  for (const text of ['198.51.100.1', '2001:db9::2']) {
    const bytes = addressBytes(text);
    const header = Buffer.from([familyOf(text), bytes.length * 8, ...Buffer.alloc(10)]);
    await both.ask(message(RTM.GETROUTE, 0, header, () => builder.attribute(DESTINATION, bytes)));
  }
});
