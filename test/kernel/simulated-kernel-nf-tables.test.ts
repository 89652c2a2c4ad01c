import { NETLINK_NETFILTER } from '../../src/adapters/netlink/protocol.js';
import { KernelUnderTest } from '../simulation/kernel/kernel-under-test.js';
import { Netfilter, SUBSYSTEM } from '../simulation/kernel/netfilter.js';
import { ELEMENTS, MSG } from '../simulation/kernel/nf-tables/numbers.js';
import { NfTables } from '../simulation/kernel/nf-tables/nf-tables.js';
import { Random } from '../simulation/world/random.js';
import { DriverBundle, Namespace } from '../support/program/in-namespace.js';
import { Conversation, type ToldMessage } from './simulated-kernel/conversation.js';
import type { KernelDriver } from './simulated-kernel/driver.js';
import { RandomBatches } from './simulated-kernel/random-batches.js';
import {
  answersIn,
  dumpRequest,
  elementsIn,
  EVERYTHING,
  objectsIn,
  setsIn,
} from './simulated-kernel/rules-told.js';

type Ask = (request: Buffer) => Promise<readonly ToldMessage[]>;

const BATCHES = 150;
const COMPARED_EACH = 5;

let bundle: DriverBundle<KernelDriver>;
let namespace: Namespace;
let askReal: Ask;
let askSimulated: Ask;

beforeAll(async () => {
  bundle = await DriverBundle.make<KernelDriver>(new URL('./simulated-kernel/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('simnf');
  const driver = namespace.drive(bundle);
  askReal = (request) => driver.ask('ask', NETLINK_NETFILTER, request.toString('hex'));
  const kernel = new KernelUnderTest();
  const tables = new NfTables({ now: () => 0 });
  kernel.protocols.set(NETLINK_NETFILTER, new Netfilter(new Map([[SUBSYSTEM.NFTABLES, tables]])));
  const simulated = new Conversation((protocol, options) => kernel.open(protocol, options));
  askSimulated = (request) => simulated.ask(NETLINK_NETFILTER, request.toString('hex'));
});
afterEach(() => namespace.close());

/** The number of the last transaction, of which the generation is the first attribute. */
async function generationOf(ask: Ask): Promise<number> {
  const [{ payload }] = (await ask(dumpRequest(MSG.GETGEN))) as [ToldMessage];
  return Buffer.from(payload, 'hex').readUInt32BE(8);
}

async function everythingOf(ask: Ask): Promise<unknown> {
  const objects: unknown[] = [];
  for (const kind of EVERYTHING) objects.push(objectsIn(await ask(dumpRequest(kind))));
  for (const { family, table, name } of setsIn(await ask(dumpRequest(MSG.GETSET)))) {
    const put = dumpRequest(MSG.GETSETELEM, family, (builder) =>
      builder.text(ELEMENTS.TABLE, table).text(ELEMENTS.SET, name),
    );
    objects.push([family, table, name, elementsIn(await ask(put))]);
  }
  return objects;
}

it.each([1, 2, 3, 4])(
  'answers batches as the real kernel does, and has the same after them (seed %i)',
  async (seed) => {
    const batches = new RandomBatches(new Random(seed));
    const first = (await generationOf(askReal)) - (await generationOf(askSimulated));
    let isChanged = 0;
    for (let count = 0; count < BATCHES; count++) {
      const batch = count === 0 ? batches.beginning() : batches.next();
      const before = await generationOf(askSimulated);
      const answers = answersIn(await askReal(batch));
      expect({ count, answers: answersIn(await askSimulated(batch)) }).toEqual({ count, answers });
      const after = await generationOf(askSimulated);
      expect(await generationOf(askReal)).toBe(after + first);
      if (after !== before) isChanged++;
      if (count % COMPARED_EACH === 0)
        expect(await everythingOf(askSimulated)).toEqual(await everythingOf(askReal));
    }
    expect(isChanged).toBeGreaterThan(10);
  },
);
