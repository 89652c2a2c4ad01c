import { MemoryNftTransport } from '../../support/fakes/memory-nft-transport.js';
import { NftCommitError } from '../../../src/adapters/nftables/transport.js';
import { setText } from '../../../src/adapters/nftables/netlink/set-layout.js';
import {
  DROP,
  leadTo,
  MASQUERADE,
  rule as ruleOf,
  RuleParts,
  type RulePart,
} from '../../../src/domain/nftables/layout/rule-parts.js';
import type { Operation, SetDefinition } from '../../../src/domain/nftables/layout/table.js';
const PARTS = new RuleParts('IPv4');
const ADDRESSES: SetDefinition = { name: 'addresses', key: ['address'] };
const MAP: SetDefinition = { name: 'map', key: ['address', 'port'], value: ['address', 'port'] };
const VERDICTS: SetDefinition = { name: 'verdicts', key: ['priority'], value: 'verdict' };
const TABLE: Operation = { op: 'add-table', comment: 'a table' };
const chain = (name: string): Operation => ({ op: 'add-chain', chain: { name } });
const base = (
  name: string,
  type: 'filter' | 'nat',
  hook: 'forward' | 'prerouting',
  priority = 0,
): Operation => ({
  op: 'add-chain',
  chain: { name, hook: { type, hook, priority } },
});
const rule = (name: string, ...parts: readonly RulePart[]): Operation => ({
  op: 'add-rule',
  chain: name,
  rule: ruleOf(parts),
});
const element = (key: string, value?: string): Operation => ({
  op: 'add-elements',
  set: value === undefined ? ADDRESSES : MAP,
  elements: [{ key, ...(value !== undefined && { value }) }],
});

describe('nf_tables in memory', () => {
  let kernel: MemoryNftTransport;
  beforeEach(async () => {
    kernel = new MemoryNftTransport();
    await kernel.commit('IPv4', [
      TABLE,
      { op: 'add-set', set: ADDRESSES },
      { op: 'add-set', set: MAP },
      { op: 'add-set', set: VERDICTS },
    ]);
    kernel.resetCounts();
  });

  async function refusal(...operations: Operation[]): Promise<NftCommitError['failures'][number]> {
    const before = kernel.dump('IPv4');
    const error: unknown = await kernel.commit('IPv4', operations).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(NftCommitError);
    expect(kernel.dump('IPv4')).toBe(before);
    const { failures } = error as NftCommitError;
    expect(failures).toHaveLength(1);
    return failures[0]!;
  }

  it('applies all operations of a transaction, or none', async () => {
    const failure = await refusal(
      chain('one'),
      element('192.0.2.1'),
      element('192.0.2.2 . 80', '10.0.0.1 . 80'),
      { op: 'delete-elements', set: ADDRESSES, elements: [{ key: '192.0.2.1' }] },
      { op: 'delete-set', set: MAP },
      chain('two'),
      rule('two', leadTo('goto', 'one')),
      { op: 'flush-chain', chain: 'two' },
      { op: 'delete-chain', chain: 'two' },
      { op: 'delete-table' },
      TABLE,
      chain('three'),
      { op: 'delete-chain', chain: 'nowhere' },
    );
    expect(failure).toEqual({ operation: 12, reason: 'ENOENT: chain nowhere' });
    expect(kernel.refusedCount).toBe(1);
    expect(await kernel.generation()).toBe(2);
  });

  it('takes what is there already, and refuses what contradicts it', async () => {
    await kernel.commit('IPv4', [
      chain('one'),
      base('base', 'filter', 'forward'),
      element('192.0.2.1'),
      element('192.0.2.1 . 80', '10.0.0.1 . 80'),
    ]);
    await kernel.commit('IPv4', [
      TABLE,
      chain('one'),
      chain('base'),
      base('base', 'filter', 'forward'),
      element('192.0.2.1'),
      element('192.0.2.1 . 80', '10.0.0.1 . 80'),
      { op: 'add-set', set: MAP },
    ]);
    expect((await refusal(element('192.0.2.1 . 80', '10.0.0.2 . 80'))).reason).toMatch(/^EEXIST/);
    expect((await refusal(base('base', 'filter', 'forward', 10))).reason).toMatch(/^EEXIST/);
    expect((await refusal({ op: 'add-set', set: { ...MAP, key: ['address'] } })).reason).toMatch(/^EEXIST/);
  });

  it('refuses what does not exist', async () => {
    for (const operations of [
      [{ op: 'delete-elements', set: ADDRESSES, elements: [{ key: '192.0.2.1' }] }],
      [{ op: 'delete-set', set: { name: 'gone', key: [] } }],
      [{ op: 'flush-chain', chain: 'gone' }],
      [{ op: 'delete-table' }, chain('one')],
      [chain('one'), rule('one', leadTo('jump', 'gone'))],
      [chain('one'), rule('one', PARTS.member(['saddr'], 'gone'))],
      [{ op: 'add-elements', set: VERDICTS, elements: [{ key: '1:1', value: 'goto gone' }] }],
    ] as Operation[][])
      expect((await refusal(...operations)).reason).toMatch(/^ENOENT/);
    expect(await kernel.read('IPv6', [])).toBeUndefined();
    await expect(kernel.commit('IPv6', [chain('one')])).rejects.toThrow('ENOENT');
  });

  it('holds on to chains and sets that are in use', async () => {
    await kernel.commit('IPv4', [
      chain('one'),
      chain('two'),
      rule('two', PARTS.member(['saddr'], 'addresses'), leadTo('goto', 'one')),
      { op: 'add-elements', set: VERDICTS, elements: [{ key: '1:1', value: 'goto two' }] },
    ]);
    expect((await refusal({ op: 'delete-chain', chain: 'one' })).reason).toMatch(/^EBUSY/);
    expect((await refusal({ op: 'delete-set', set: ADDRESSES })).reason).toMatch(/^EBUSY/);
    const unhook: Operation = { op: 'delete-elements', set: VERDICTS, elements: [{ key: '1:1' }] };
    // Before Linux 6.2 an element deleted in the same transaction still holds its chain.
    expect((await refusal(unhook, { op: 'delete-chain', chain: 'two' })).reason).toMatch(/^EBUSY/);
    await kernel.commit('IPv4', [unhook]);
    await kernel.commit('IPv4', [
      { op: 'delete-chain', chain: 'two' },
      { op: 'delete-chain', chain: 'one' },
      { op: 'delete-set', set: ADDRESSES },
    ]);
    expect([...kernel.contents('IPv4')!.chains]).toEqual([]);
  });

  it('knows the types of sets', async () => {
    expect(await refusal(element('192.0.2.1'), element('300.0.0.1'))).toMatchObject({
      operation: 1,
      element: 0,
      reason: expect.stringMatching(/^EINVAL/) as string,
    });
    for (const operations of [
      [element('2001:db8::1')],
      [element('192.0.2.1 . 80')],
      [element('192.0.2.1 . 80', '10.0.0.1')],
      [element('192.0.2.1 . 80', '10.0.0.1 . 65536')],
      [chain('one'), rule('one', PARTS.member(['dport'], 'addresses'))],
      [chain('one'), rule('one', PARTS.translate(['daddr'], 'map'))],
    ])
      expect((await refusal(...operations)).reason).toMatch(/^EINVAL/);
  });

  it('looks where chains lead before it commits', async () => {
    const loop = [chain('one'), rule('one', PARTS.verdict(['priority'], 'verdicts'))];
    const lead: Operation = {
      op: 'add-elements',
      set: VERDICTS,
      elements: [{ key: '1:1', value: 'goto one' }],
    };
    const hooked = [base('base', 'filter', 'forward'), rule('base', leadTo('jump', 'one'))];
    await kernel.commit('IPv4', loop);
    expect((await refusal(...hooked, lead)).reason).toMatch(/^ELOOP/);
    expect(
      (await refusal(chain('two'), rule('two', MASQUERADE), rule('one', leadTo('jump', 'two')), ...hooked))
        .reason,
    ).toMatch(/^EOPNOTSUPP/);
  });

  it('reads back what it holds, but not what the reader does not know', async () => {
    await kernel.commit('IPv4', [chain('one'), rule('one', DROP), element('192.0.2.1')]);
    const state = (await kernel.read('IPv4', [ADDRESSES, { ...VERDICTS, key: ['address'] }]))!;
    expect(state.chains.get('one')).toEqual({ name: 'one', number: 0, rules: [ruleOf([DROP])] });
    expect(state.sets.get('addresses')!.elements).toEqual(new Map([['192.0.2.1', { key: '192.0.2.1' }]]));
    expect(state.sets.get('verdicts')!.layout).toBe(setText('IPv4', VERDICTS));
    kernel.tamper('IPv4', [{ op: 'delete-elements', set: ADDRESSES, elements: [{ key: '192.0.2.1' }] }]);
    expect(state.sets.get('addresses')!.elements.size).toBe(1);
  });

  it('refuses what a test selects, and blames as the test wants', async () => {
    const lift = kernel.refuse((_, added) => (added?.key === '192.0.2.2' ? 'EPERM' : undefined));
    const both: Operation = {
      op: 'add-elements',
      set: ADDRESSES,
      elements: [{ key: '192.0.2.1' }, { key: '192.0.2.2' }],
    };
    expect(await refusal(chain('one'), both)).toEqual({ operation: 1, element: 1, reason: 'EPERM' });
    lift();
    const liftSilent = kernel.refuse(({ op }) => (op === 'add-chain' ? 'EPERM' : undefined), 'nothing');
    expect(await refusal(both, chain('one'))).toEqual({ reason: 'EPERM' });
    kernel.tamper('IPv4', [chain('one')]);
    liftSilent();
    kernel.refuse(({ op }) => (op === 'add-chain' ? 'EPERM' : undefined), 'operation');
    expect(await refusal(both, chain('two'))).toEqual({ operation: 1, reason: 'EPERM' });
    expect(kernel.commits).toEqual([]);
  });

  it('counts its commits, not those of other programs, which the generation shows', async () => {
    await kernel.commit('IPv4', []);
    await kernel.commit('IPv4', [chain('one'), chain('two')]);
    expect([kernel.commits.length, kernel.operationCount, await kernel.generation()]).toEqual([1, 2, 3]);
    kernel.tamper('IPv4', [{ op: 'delete-chain', chain: 'two' }]);
    kernel.bystanderCommits();
    expect([kernel.commits.length, kernel.operationCount, await kernel.generation()]).toEqual([1, 2, 5]);
    expect(() => kernel.tamper('IPv4', [{ op: 'delete-chain', chain: 'two' }])).toThrow(NftCommitError);
  });

  it('reports the generation of its commits, and gives none to those that change nothing', async () => {
    const elements = [{ key: '192.0.2.1' }];
    const add: Operation = { op: 'add-elements', set: ADDRESSES, elements };
    const before = await kernel.generation();
    expect(await kernel.commit('IPv4', [chain('one'), add])).toBe(before + 1);
    expect(await kernel.commit('IPv4', [add, { op: 'flush-chain', chain: 'one' }])).toBeUndefined();
    expect(await kernel.generation()).toBe(before + 1);
    expect(await kernel.commit('IPv4', [{ op: 'delete-elements', set: ADDRESSES, elements }])).toBe(
      before + 2,
    );
    expect(await kernel.commit('IPv4', [{ op: 'delete-table' }])).toBe(before + 3);
  });

  it('can be out of order as a whole', async () => {
    const restore = kernel.outage(new Error('no permission'));
    await expect(kernel.commit('IPv4', [chain('one')])).rejects.toThrow('no permission');
    await expect(kernel.read('IPv4', [])).rejects.toThrow('no permission');
    await expect(kernel.generation()).rejects.toThrow('no permission');
    restore();
    await kernel.commit('IPv4', [chain('one')]);
  });

  it('shows the table as nft does', async () => {
    await kernel.commit('IPv4', [
      chain('one'),
      rule('one', DROP),
      element('192.0.2.2'),
      element('192.0.2.1'),
    ]);
    expect(kernel.dump('IPv4')).toContain(`set addresses {
\t\ttype ipv4_addr
\t\telements = { 192.0.2.1,
\t\t\t     192.0.2.2 }
\t}`);
    expect(kernel.dump('IPv4')).toContain('chain one {\n\t\tdrop\n\t}');
    expect(kernel.dump('IPv6')).toBe('');
  });
});
