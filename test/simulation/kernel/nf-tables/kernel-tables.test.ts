import type { KernelTable } from '../../../../src/domain/nftables/kernel/ruleset.js';
import { E } from '../netlink/numbers.js';
import { COUNTER, ForeignBatch, verdict } from './foreign-batch.js';
import { NfTables } from './nf-tables.js';
import { DATA, ELEMENT, ELEMENT_FLAG, SET_FLAG } from './numbers.js';

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
const read = (): KernelTable => kernel.kernelTable('ip', 'firewall')!;
const find = (set: string, value: number) =>
  kernel.findElement(read(), read().sets.get(set)!, networkWord(value));

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

it('reads chains and rules as the program does, and only what was changed', () => {
  const before = read();
  expect(before.chains.get('input')).toMatchObject({
    hook: { type: 'filter', hook: 'input', priority: -5, policy: 'drop' },
    rules: [
      { expressions: [{ kind: 'verdict', verdict: { code: 'accept' } }] },
      {
        expressions: [{ kind: 'indifferent' }, { kind: 'verdict', verdict: { code: 'jump', chain: 'sub' } }],
      },
    ],
  });
  expect(read()).toBe(before);
  commit((batch) => batch.addRule('sub', [verdict('DROP')]));
  expect(read().chains.get('input')).toBe(before.chains.get('input'));
  expect(read().chains.get('sub')!.rules).toHaveLength(1);
  commit((batch) => batch.flush());
  expect([...read().chains.values()].flatMap(({ rules }) => rules)).toEqual([]);
});

it('has what was there before after a transaction that is refused', () => {
  const before = read();
  const refused = commit((batch) =>
    batch
      .deleteChain('sub')
      .flush('input')
      .addRule('input', [verdict('GOTO', 'nowhere')]),
  );
  expect(refused).toContain(E.ENOENT);
  expect(read()).toBe(before);
  expect(kernel.view(2, 'firewall')!.chains.get('sub')!.jumps).toBe(1);
});

it('finds elements by key, and the one for all others', () => {
  commit((batch) => batch.addSet({ name: 'marks', flags: 0, ...KEY }).addElements('marks', [[key(5)]]));
  expect([5, 6].map((value) => find('marks', value) !== undefined)).toEqual([true, false]);
  commit((batch) => batch.addElements('marks', [[{ type: ELEMENT.FLAGS, value: ELEMENT_FLAG.CATCHALL }]]));
  expect(find('marks', 6)).toEqual({});
  commit((batch) => batch.deleteElements('marks'));
  expect(find('marks', 5)).toBeUndefined();
});

it('forgets what packets left in a set when its time is over, and takes no more than there is room for', () => {
  commit((batch) => batch.addSet({ name: 'clients', flags: SET_FLAG.TIMEOUT | SET_FLAG.EVAL, ...KEY }));
  kernel.view(2, 'firewall')!.sets.get('clients')!.size = 2;
  const remember = (value: number): boolean =>
    kernel.remember('ip', 'firewall', 'clients', networkWord(value), 1000);
  const { generation } = kernel;
  expect([1, 2, 3].map(remember)).toEqual([true, true, false]);
  now = 600;
  expect(remember(1)).toBe(true);
  now = 1100;
  expect([1, 2].map((value) => find('clients', value) !== undefined)).toEqual([true, false]);
  expect(remember(3)).toBe(true);
  expect(kernel.generation).toBe(generation);
});

it('leaves out tables that are switched off', () => {
  commit((batch) => batch.addTable(1));
  expect(kernel.kernelTables('ip')).toEqual([]);
});
