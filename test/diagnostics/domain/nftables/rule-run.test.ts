import {
  isEffective,
  type Expression,
  type KernelElement,
  type KernelTable,
} from '../../../../src/domain/nftables/kernel/ruleset.js';
import {
  KernelPacketState,
  headersOf,
} from '../../../../src/diagnostics/domain/nftables/kernel-packet-state.js';
import { ListedChains, ListedRule } from '../../../../src/diagnostics/domain/nftables/listed-rule.js';
import { RuleRun } from '../../../../src/diagnostics/domain/nftables/rule-run.js';
import { TABLE_NAME } from '../../../../src/domain/nftables/layout/table.js';
import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import { initialState } from '../../../../src/diagnostics/domain/walk/packet-state.js';
import { nextRule } from '../../../../src/diagnostics/domain/walk/chain-walk.js';

const packet: Packet = {
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '192.0.2.1',
  destination: '10.0.0.1',
  protocol: 'TCP',
  destinationPort: 80,
};
const start = new KernelPacketState(initialState(packet), headersOf(packet));
const foreign: KernelTable = {
  family: 'inet',
  name: 'firewall',
  number: 1,
  chains: new Map([['other', { name: 'other', number: 2, rules: [] }]]),
  sets: new Map([['s', { name: 's', keyLength: 2 }]]),
};
const ours: KernelTable = { ...foreign, family: 'ip', name: TABLE_NAME };
const own = '10.0.0.1';

/** What a rule of these expressions makes of the packet. */
function turns(
  expressions: readonly Expression[],
  {
    table = foreign,
    course = start,
    element,
  }: {
    readonly table?: KernelTable;
    readonly course?: KernelPacketState;
    readonly element?: KernelElement;
  } = {},
) {
  const devices = { towards: () => undefined, numbers: new Map<string, number>() };
  const run = new RuleRun(
    new ListedChains('IPv4'),
    () => element,
    devices,
    (address) => address === own,
  );
  const chain = { name: 'c', number: 1, rules: [] };
  const rule = new ListedRule({ expressions }, table, chain, 'IPv4');
  return run.meet(rule, course) ?? [nextRule(course)];
}

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);
const immediate = (to: number, ...values: readonly number[]): Expression => ({
  ...{ kind: 'immediate', to },
  value: bytes(...values),
});
const equals = (...values: readonly number[]): Expression => ({
  ...{ kind: 'cmp', from: 0, op: '==' },
  value: bytes(...values),
});
const drop: Expression = { kind: 'verdict', verdict: { code: 'drop' } };
const dport: Expression = { kind: 'payload', to: 0, base: 'transport', offset: 2, length: 2 };
const lookup: Expression = { kind: 'lookup', set: 's', from: 0, inverted: false };
const matches = (...expressions: readonly Expression[]): boolean =>
  turns([...expressions, drop])[0]!.state.verdict === 'drop';

describe('a rule of the kernel', () => {
  it.each<[Expression, string, string]>([
    [drop, 'end', 'drops it'],
    [{ kind: 'verdict', verdict: { code: 'accept' } }, 'end', 'accepts it'],
    [{ kind: 'reject' }, 'end', 'answers with an error'],
    [{ kind: 'masquerade', fullyRandom: true }, 'end', 'rewrites the source to an address of this node'],
    [{ kind: 'nat', type: 'snat', address: 0 }, 'end', 'rewrites the source to an address of this node'],
  ])('that ends the way says so: %j', (expression, to, effect) => {
    expect(turns([expression])).toMatchObject([{ to, effect }]);
  });

  it.each<[Expression, string]>([
    [{ kind: 'verdict', verdict: { code: 'return' } }, 'caller'],
    [{ kind: 'verdict', verdict: { code: 'continue' } }, 'rule'],
    [{ kind: 'indifferent', name: 'counter' }, 'rule'],
  ])('leads on without a word: %j', (expression, to) => {
    const [turn] = turns([expression]);
    expect(turn).toMatchObject({ to });
    expect(turn).not.toHaveProperty('effect');
  });

  it.each(['jump', 'goto'] as const)('names the chain of a %s', (code) => {
    const [turn] = turns([{ kind: 'verdict', verdict: { code, chain: 'other' } }]);
    expect(turn).toMatchObject({ to: { verb: code }, effect: `${code} other` });
  });

  it('translates to what its registers hold, or keeps the address or the port', () => {
    const registers = [immediate(0, 10, 1, 0, 7), immediate(16, 0x1f, 0x90)];
    const to = (parts: { readonly address?: number; readonly port?: number }) =>
      turns([...registers, { kind: 'nat', type: 'dnat', ...parts }])[0]!.effect;
    expect(to({ address: 0, port: 16 })).toBe('sends it to 10.1.0.7:8080');
    expect(to({ address: 0 })).toBe('sends it to 10.1.0.7:80');
    expect(to({ port: 16 })).toBe('sends it to 10.0.0.1:8080');
  });

  it('compares with ranges, both ends included', () => {
    const within = (first: number, last: number, inverted = false) =>
      matches(dport, { kind: 'range', from: 0, inverted, first: bytes(0, first), last: bytes(0, last) });
    expect([within(80, 90), within(70, 80), within(70, 79), within(81, 90)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([within(80, 90, true), within(81, 90, true)]).toEqual([false, true]);
  });

  it('masks and flips bits', () => {
    const bitwise: Expression = {
      ...{ kind: 'bitwise', from: 4, to: 0 },
      ...{ mask: bytes(0xff, 0x0f, 0, 0xff), xor: bytes(0, 0, 0xaa, 0xff) },
    };
    expect(matches(immediate(4, 0x12, 0x34, 0x56, 0x78), bitwise, equals(0x12, 0x04, 0xaa, 0x87))).toBe(true);
  });

  it('clears the words that it loads, and no other', () => {
    const loads = [immediate(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), immediate(0, 0, 0, 0, 0, 21)];
    expect(matches(...loads, equals(0, 0, 0, 0, 21, 0, 0, 0, 9, 10, 11, 12))).toBe(true);
  });

  it('knows the kind of either address, and that there is a way back', () => {
    const fib = (field: 'saddr' | 'daddr', result: 'type' | 'exists', value: number) =>
      matches({ kind: 'fib', to: 0, field, result }, equals(value, 0, 0, 0));
    expect([fib('daddr', 'type', 2), fib('saddr', 'type', 1)]).toEqual([true, true]);
    expect([fib('daddr', 'exists', 1), fib('saddr', 'exists', 1)]).toEqual([true, true]);
  });

  it('uses the value that a map has for the key, and does not match without one', () => {
    const map = [dport, { ...lookup, to: 0 }, equals(7, 0, 0, 0), drop] as const;
    expect(turns(map, { element: { value: bytes(7, 0, 0, 0) } })[0]!.state.verdict).toBe('drop');
    expect(turns(map)[0]).toMatchObject({ to: 'rule' });
  });

  it('does what a verdict map says, or nothing', () => {
    const map = [dport, { ...lookup, to: 'verdict' }] as const;
    expect(turns(map, { element: { verdict: { code: 'drop' } } })).toMatchObject([{ to: 'end' }]);
    expect(turns(map, { element: {} })).toMatchObject([{ to: 'rule' }]);
    const continues = { element: { verdict: { code: 'continue' } } } as const;
    expect(turns([...map, drop], continues)).toMatchObject([{ to: 'end', effect: 'drops it' }]);
  });

  it('draws each number as likely as the others, and need not draw one of one', () => {
    const draws = (modulus: number) =>
      turns([{ kind: 'random', to: 0, modulus, offset: 5 }, equals(5, 0, 0, 0), drop]);
    expect(draws(2).map(({ state }) => [state.verdict, state.probability, state.steps[0]!.effect])).toEqual([
      ['drop', 0.5, 'draws 1 of 2'],
      [undefined, 0.5, 'draws 2 of 2'],
    ]);
    expect(draws(1).map(({ state }) => [state.verdict, state.steps])).toEqual([['drop', []]]);
  });

  it('joins numbers that lead to the same', () => {
    const [joined] = turns([{ kind: 'random', to: 0, modulus: 3, offset: 0 }, drop]);
    expect(joined!.state).toMatchObject({ probability: 1, steps: [{ effect: 'draws one of 3 of 3' }] });
  });

  const unknownDevice: Expression = { kind: 'meta', to: 0, key: 'iif' };
  it.each<Expression>([
    drop,
    lookup,
    { kind: 'nat', type: 'snat' },
    { kind: 'masquerade', fullyRandom: false },
    { kind: 'reject' },
    { kind: 'meta-set', from: 0, key: 'mark' },
    { kind: 'unknown', name: 'tproxy' },
  ])('that depends on what is not known may do something: %j', (expression) => {
    expect(isEffective(expression)).toBe(true);
    const isUncertain = true;
    expect(turns([unknownDevice, expression])).toMatchObject([{ to: 'rule', isUncertain }]);
    expect(turns([{ kind: 'unknown', name: 'osf' }])).toMatchObject([
      { isUncertain, effect: 'is not understood (osf), and assumed not to match' },
    ]);
  });

  it('says that a program may do anything', () => {
    expect(turns([{ kind: 'verdict', verdict: { code: 'queue' } }])).toMatchObject([
      {
        isUncertain: true,
        effect: 'hands it to a program, which may do anything with it; assumed not to match',
      },
    ]);
  });
});

describe('a rule of this program', () => {
  const element = { comment: 'shop/cart:http' };
  const found = [dport, lookup] as const;
  const steps = (expressions: readonly Expression[], table = ours, course = start) =>
    turns(expressions, { table, course, element })[0]!.state.steps;
  const mark = (value: number): readonly Expression[] => [
    immediate(0, value, 0, 0, 0),
    { kind: 'meta-set', from: 0, key: 'mark' },
  ];

  it('names the service port that it found; one of another program does not', () => {
    expect(turns(found, { table: ours, element })[0]!.state.servicePort).toBe('shop/cart:http');
    for (const table of [foreign, { ...ours, family: 'inet' }, { ...ours, name: 'mine' }] as const)
      expect(turns(found, { table, element })[0]!.state.servicePort).toBeUndefined();
  });

  it('tells of a mark only that the packet will be masqueraded, not that the mark goes', () => {
    expect(steps(mark(1))).toMatchObject([{ effect: 'marks it to be masqueraded' }]);
    expect(steps(mark(0), ours, start.with({ mark: 1 }))).toEqual([]);
    expect(steps(mark(1), foreign)).toMatchObject([{ effect: 'sets the mark to 0x1', foreign: true }]);
    expect(steps(mark(0), foreign, start.with({ mark: 1 }))).toMatchObject([
      { effect: 'sets the mark to 0x0' },
    ]);
  });

  it('keeps a number in the priority without a word', () => {
    const set: Expression = { kind: 'meta-set', from: 0, key: 'priority' };
    const { state } = turns([immediate(0, 7, 0, 0, 0), set], { table: ours })[0]!;
    expect([state.priority, state.mark, state.steps]).toEqual([7, 0, []]);
  });

  it('remembers clients; what another program remembers is its own business', () => {
    const remember: Expression = { kind: 'remember', set: 's', from: 0, timeoutSeconds: 60 };
    const [turn] = turns([remember], { table: ours });
    expect(turn!.state.isSticky).toBe(true);
    expect(turn!.state.steps).toMatchObject([
      { where: `ip ${TABLE_NAME} c`, effect: "remembers the client's endpoint" },
    ]);
    expect(turns([remember])[0]!.state).toMatchObject({ isSticky: false, steps: [] });
  });
});
