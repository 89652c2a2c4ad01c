import { NETLINK_NETFILTER } from '../../src/adapters/netlink/protocol.js';
import { Accounting } from '../simulation/kernel/accounting.js';
import { IpSetHeaders } from '../simulation/kernel/ip-set-headers.js';
import { KernelUnderTest } from '../simulation/kernel/kernel-under-test.js';
import { Netfilter, SUBSYSTEM } from '../simulation/kernel/netfilter.js';
import type { NetlinkProtocol } from '../simulation/kernel/netlink-protocol.js';
import { MessageBuilder } from '../simulation/kernel/netlink/message-builder.js';
import {
  NLM_F_ACK,
  NLM_F_CREATE,
  NLM_F_DUMP,
  NLM_F_EXCL,
  NLM_F_REPLACE,
  NLM_F_REQUEST,
} from '../simulation/kernel/netlink/numbers.js';
import { DriverBundle, Namespace } from '../support/program/in-namespace.js';
import { Compared } from './simulated-kernel/compared.js';
import { Conversation } from './simulated-kernel/conversation.js';
import type { KernelDriver } from './simulated-kernel/driver.js';
import type { Shape } from './simulated-kernel/shape.js';

const ACCOUNTING = 7 << 8;
const [NEW, GET, DELETE] = [ACCOUNTING, ACCOUNTING | 1, ACCOUNTING | 3];
const IPSET_HEADER = (6 << 8) | 12;
const COUNTER: Shape = { header: 4, nests: new Set(), varying: new Set() };
/** The kernel tells how recent its idea of the type of a set is. */
const SET: Shape = { ...COUNTER, varying: new Set(['4']) };

let bundle: DriverBundle<KernelDriver>;
let namespace: Namespace;
let both: Compared;

beforeAll(async () => {
  bundle = await DriverBundle.make<KernelDriver>(new URL('./simulated-kernel/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('simnf');
  const kernel = new KernelUnderTest();
  const sets = new IpSetHeaders((name) =>
    name === 'KUBE-6-CLUSTER-IP' ? { type: 'hash:ip,port', family: 'IPv6' } : undefined,
  );
  const subsystems = new Map<number, NetlinkProtocol>([
    [SUBSYSTEM.ACCOUNTING, new Accounting()],
    [SUBSYSTEM.IPSET, sets],
  ]);
  kernel.protocols.set(NETLINK_NETFILTER, new Netfilter(subsystems));
  const simulated = new Conversation((protocol, options) => kernel.open(protocol, options));
  both = new Compared(namespace.drive(bundle), simulated, NETLINK_NETFILTER, (type) =>
    type >> 8 === SUBSYSTEM.IPSET ? SET : COUNTER,
  );
});
afterEach(() => namespace.close());

const builder = new MessageBuilder();

function message(type: number, flags: number, put = (): void => {}): Buffer {
  builder.begin(type, NLM_F_REQUEST | flags, 1, 0).raw(Buffer.alloc(4));
  put();
  return builder.end().take();
}

it('counts by name', async () => {
  const name = (text: string) => (): void => void builder.text(1, text);
  const one = (): void => void builder.text(1, 'one').be64(2, 7).be64(3, 700);
  await both.ask(message(GET, 0, name('one')));
  await both.ask(message(NEW, NLM_F_ACK | NLM_F_CREATE, one));
  await both.ask(message(GET, 0, name('one')));
  await both.ask(message(NEW, NLM_F_ACK | NLM_F_CREATE, one));
  await both.ask(message(NEW, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, one));
  await both.ask(message(NEW, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, one));
  await both.ask(message(NEW, NLM_F_ACK, name('other')));
  await both.ask(message(GET, NLM_F_DUMP));
  await both.ask(message(DELETE, NLM_F_ACK, name('one')));
  await both.ask(message(DELETE, NLM_F_ACK, name('one')));
  await both.ask(message(NEW, NLM_F_ACK, name('')));
  await both.ask(message(GET, NLM_F_ACK));
});

it('tells of sets', async () => {
  await namespace.run(['ipset', 'create', 'KUBE-6-CLUSTER-IP', 'hash:ip,port', 'family', 'inet6']);
  const asking = (name: string, protocol = 6): Buffer =>
    message(IPSET_HEADER, 0, () => void builder.u8(1, protocol).text(2, name));
  await both.ask(asking('KUBE-6-CLUSTER-IP'));
  await both.ask(asking('KUBE-CLUSTER-IP'));
  await both.ask(asking('KUBE-6-CLUSTER-IP', 5));
});
