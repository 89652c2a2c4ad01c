import { NETLINK_NETFILTER } from '../../src/adapters/netlink/protocol.js';
import { Accounting } from '../simulation/kernel/accounting.js';
import { KernelUnderTest } from '../simulation/kernel/kernel-under-test.js';
import { Netfilter, SUBSYSTEM } from '../simulation/kernel/netfilter.js';
import { MessageBuilder } from '../simulation/kernel/netlink/message-builder.js';
import { NLM_F } from '../simulation/kernel/netlink/numbers.js';
import { DriverBundle, Namespace } from '../support/program/in-namespace.js';
import { Compared } from './simulated-kernel/compared.js';
import { Conversation } from './simulated-kernel/conversation.js';
import type { KernelDriver } from './simulated-kernel/driver.js';
import type { Shape } from './simulated-kernel/shape.js';

const ACCOUNTING = 7 << 8;
const [NEW, GET] = [ACCOUNTING, ACCOUNTING | 1];
const COUNTER: Shape = { header: 4, nests: new Set(), varying: new Set() };

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
  kernel.protocols.set(NETLINK_NETFILTER, new Netfilter(new Map([[SUBSYSTEM.ACCOUNTING, new Accounting()]])));
  const simulated = new Conversation((protocol, options) => kernel.open(protocol, options));
  both = new Compared(namespace.drive(bundle), simulated, NETLINK_NETFILTER, () => COUNTER);
});
afterEach(() => namespace.close());

const builder = new MessageBuilder();

function message(type: number, flags: number, put = (): void => {}): Buffer {
  builder.begin(type, NLM_F.REQUEST | flags, 1, 0).raw(Buffer.alloc(4));
  put();
  return builder.end().take();
}

it('counts by name', async () => {
  const name = (text: string) => (): void => void builder.text(1, text);
  const one = (): void => void builder.text(1, 'one').be64(2, 7).be64(3, 700);
  await both.ask(message(GET, 0, name('one')));
  await both.ask(message(NEW, NLM_F.ACK | NLM_F.CREATE, one));
  await both.ask(message(GET, 0, name('one')));
  await both.ask(message(NEW, NLM_F.ACK | NLM_F.CREATE, one));
  await both.ask(message(NEW, NLM_F.ACK | NLM_F.CREATE | NLM_F.EXCL, one));
  await both.ask(message(NEW, NLM_F.ACK, name('other')));
  await both.ask(message(GET, NLM_F.DUMP));
  await both.ask(message(NEW, NLM_F.ACK, name('')));
  await both.ask(message(GET, NLM_F.ACK));
});
