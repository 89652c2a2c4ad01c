import { E } from '../netlink/numbers.js';
import { COUNTER, ForeignBatch, verdict } from './foreign-batch.js';
import { elementFor } from '../../walks/nf-tables-program.js';
import { NfTables } from './nf-tables.js';
import { DATA, ELEMENT, SET_FLAG } from './numbers.js';

const OTHER = 7;
const KEY = { keyType: 19, keyLength: 4 };

function networkWord(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const key = (value: number) => ({
  type: ELEMENT.KEY,
  value: [{ type: DATA.VALUE, value: networkWord(value) }],
});

let now = 0;
let kernel: NfTables;
const commit = (fill: (batch: ForeignBatch) => ForeignBatch): readonly number[] =>
  kernel.transact(OTHER, fill(new ForeignBatch('ip', 'firewall')).end());
const read = () => kernel.view(2, 'firewall')!;
const rules = () => [...read().chains.values()].map((chain) => [chain.name, ...chain.rules]);
const find = (set: string, value: number) => elementFor(read().sets.get(set)!, networkWord(value), now);

beforeEach(() => {
  now = 0;
  kernel = new NfTables({ now: () => now });
  const hook = { type: 'filter', number: 1, priority: -5, drops: true };
  commit((batch) =>
    batch
      .addTable()
      .addChain({ name: 'input', hook })
      .addChain({ name: 'sub' })
      .addRule('input', [COUNTER, verdict('JUMP', 'sub')])
      .addRule('input', [verdict('ACCEPT')], 'first'),
  );
});

it('has what was there before after a transaction that is refused', () => {
  const before = rules();
  const refused = commit((batch) =>
    batch
      .deleteChain('sub')
      .flush('input')
      .addRule('input', [verdict('GOTO', 'nowhere')]),
  );
  expect(refused).toContain(E.ENOENT);
  expect(rules()).toEqual(before);
  expect(kernel.view(2, 'firewall')!.chains.get('sub')!.jumps).toBe(1);
});

it('finds elements by key', () => {
  commit((batch) => batch.addSet({ name: 'marks', flags: 0, ...KEY }).addElements('marks', [[key(5)]]));
  expect([5, 6].map((value) => find('marks', value) !== undefined)).toEqual([true, false]);
  commit((batch) => batch.deleteElements('marks'));
  expect(find('marks', 5)).toBeUndefined();
});

it('forgets elements when their time is over, and takes no more than there is room for', () => {
  const flags = SET_FLAG.TIMEOUT | SET_FLAG.EVAL;
  commit((batch) => batch.addSet({ name: 'clients', flags, ...KEY, timeout: 1000 }));
  read().sets.get('clients')!.size = 2;
  const add = (value: number) => commit((batch) => batch.addElements('clients', [[key(value)]]));
  expect([1, 2, 3].map(add)).toEqual([[], [], [E.ENFILE]]);
  now = 1100;
  expect(find('clients', 1)).toBeUndefined();
  expect(add(3)).toEqual([]);
});
