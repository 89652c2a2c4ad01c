import type {
  Expression,
  KernelVerdict,
  KernelChain,
  KernelElement,
  KernelHook,
  KernelRule,
  KernelSet,
  KernelTable,
} from '../../../../src/domain/nftables/kernel/ruleset.js';
import type { WantedElements } from '../../../../src/diagnostics/domain/nftables/elements.js';
import { follow } from '../../../../src/diagnostics/domain/nftables/ruleset-walk.js';
import { TABLE_NAME } from '../../../../src/domain/nftables/layout/table.js';
import type {
  Packet,
  PacketEnvironment,
  PacketPath,
} from '../../../../src/diagnostics/domain/trace/trace.js';
const packet: Packet = {
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '192.0.2.1',
  destination: '198.51.100.1',
  protocol: 'TCP',
  destinationPort: 80,
};
const environment: PacketEnvironment = {
  localAddresses: new Set(['10.0.0.1']),
  deviceTowards: (address) => Promise.resolve(address.startsWith('198.51.') ? 'eth1' : 'lo'),
};

const rule = (...expressions: readonly Expression[]): KernelRule => ({ expressions });
const verdict = (code: KernelVerdict['code'], chain?: string): Expression => ({
  kind: 'verdict',
  verdict: { code, ...(chain !== undefined && { chain }) },
});
const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);
const dport: Expression = { kind: 'payload', to: 0, base: 'transport', offset: 2, length: 2 };
const is = (value: Buffer): Expression => ({ kind: 'cmp', from: 0, op: '==', value });
const unknown: Expression = { kind: 'unknown', name: 'osf' };

let made = 0;
function table(
  hook: Partial<KernelHook>,
  rules: readonly KernelRule[],
  parts: {
    readonly chains?: Readonly<Record<string, readonly KernelRule[]>>;
    readonly sets?: readonly KernelSet[];
  } = {},
): KernelTable {
  const number = ++made;
  const base = { name: 'base', number: 0, rules, hook: { ...forward, ...hook } };
  const others = Object.entries(parts.chains ?? {}).map(([name, of]) => ({ name, number: 1, rules: of }));
  return {
    family: 'inet',
    name: `t${number}`,
    number,
    chains: new Map([base, ...others].map((chain) => [chain.name, chain])),
    sets: new Map((parts.sets ?? []).map((set) => [set.name, set])),
  };
}
const forward: KernelHook = { type: 'filter', hook: 'forward', priority: 0, policy: 'accept' };

function endings(
  tables: readonly KernelTable[],
  elements: readonly KernelElement[] = [],
  given: Packet = packet,
): Promise<readonly PacketPath[]> {
  const read = ({ keys }: WantedElements) =>
    Promise.resolve(
      keys === 'all'
        ? elements
        : elements.filter(({ key }) => keys.some((each) => Buffer.from(each).equals(key!))),
    );
  const deviceNumbers = new Map([['eth0', 2]]);
  return follow({ tables, deviceNumbers }, given, environment, read);
}

const verdictsOf = async (...given: Parameters<typeof endings>): Promise<readonly string[]> =>
  (await endings(...given)).map((ending) => ending.verdict);

describe('the rules of the kernel', () => {
  it('compare what is in the packet', async () => {
    expect(await verdictsOf([table({}, [rule(dport, is(bytes(0, 80)), verdict('drop'))])])).toEqual(['drop']);
    expect(await verdictsOf([table({}, [rule(dport, is(bytes(0, 81)), verdict('drop'))])])).toEqual([
      'untouched',
    ]);
    const beyondTheHeader = { ...dport, offset: 60 } as Expression;
    expect(await verdictsOf([table({}, [rule(beyondTheHeader, verdict('drop'))])])).toEqual(['untouched']);
  });

  it.each([
    ['iifname', Buffer.from('eth0\0'), 'drop'],
    ['oifname', Buffer.from('eth1\0'), 'drop'],
    ['oifname', Buffer.from('eth'), 'drop'],
    ['oifname', Buffer.from('eth0\0'), 'untouched'],
    ['iif', bytes(2, 0, 0, 0), 'drop'],
    ['l4proto', bytes(6), 'drop'],
    ['nfproto', bytes(2), 'drop'],
    ['protocol', bytes(8, 0), 'drop'],
    ['mark', bytes(0, 0, 0, 0), 'drop'],
  ] as const)('know %s %j', async (key, value, expected) => {
    const rules = [rule({ kind: 'meta', to: 0, key }, is(value), verdict('drop'))];
    expect(await verdictsOf([table({}, rules)])).toEqual([expected]);
  });

  it('come back from a jump, and from a goto to where the chain was entered', async () => {
    const chains = (verb: 'jump' | 'goto') => ({
      one: [rule(verdict(verb, 'two')), rule(verdict('drop'))],
      two: [rule(verdict('return'))],
    });
    const base = [rule(verdict('jump', 'one')), rule({ kind: 'reject' })];
    expect(await verdictsOf([table({}, base, { chains: chains('jump') })])).toEqual(['drop']);
    expect(await verdictsOf([table({}, base, { chains: chains('goto') })])).toEqual(['reject']);
  });

  it('drop by the policy what nothing accepts, and go on in the next table after an accept', async () => {
    const drops = table({ policy: 'drop' }, []);
    const [ending] = await endings([drops]);
    expect(ending).toMatchObject({
      verdict: 'drop',
      steps: [{ where: `inet ${drops.name} base`, rule: 'policy drop', foreign: true }],
    });
    const accepts = table({ policy: 'drop', priority: -1 }, [rule(verdict('accept'))]);
    expect(await verdictsOf([accepts])).toEqual(['untouched']);
    expect(await verdictsOf([drops, accepts])).toEqual(['drop']);
  });

  it('are met by priority, and those of a later table first', async () => {
    const refuses = table({}, [rule({ kind: 'reject' })]);
    const drops = table({}, [rule(verdict('drop'))]);
    const early = table({ priority: -5 }, [rule({ kind: 'reject' })]);
    expect(await verdictsOf([refuses, drops])).toEqual(['drop']);
    expect(await verdictsOf([refuses, drops, early])).toEqual(['reject']);
  });

  it('are met from the latest chain of a table to its first, where all have one priority', async () => {
    const chain = (number: number, expression: Expression): KernelChain => ({
      ...{ name: `c${number}`, number, hook: forward },
      rules: [rule(expression)],
    });
    const chains = [chain(1, { kind: 'reject' }), chain(3, verdict('drop')), chain(2, { kind: 'reject' })];
    const one = { ...table({}, []), chains: new Map(chains.map((each) => [each.name, each])) };
    expect(await verdictsOf([one])).toEqual(['drop']);
  });

  it('translate once, at the priority of the kernel, whatever that of the chain', async () => {
    const to = (last: number, priority: number): KernelTable =>
      table({ type: 'nat', hook: 'prerouting', priority }, [
        rule(
          { kind: 'immediate', to: 0, value: bytes(10, 9, 9, last) },
          { kind: 'immediate', to: 16, value: bytes(0, 99) },
          { kind: 'nat', type: 'dnat', address: 0, port: 16 },
        ),
      ]);
    const [ending] = await endings([to(1, -90), to(2, -200)]);
    expect(ending).toMatchObject({ verdict: 'forward', endpoint: { address: '10.9.9.2', port: 99 } });
    const before = table({ hook: 'prerouting', priority: -150 }, [
      rule(dport, is(bytes(0, 99)), verdict('drop')),
    ]);
    expect(await verdictsOf([to(1, -200), before])).toEqual(['forward']);
    const after = table({ hook: 'prerouting', priority: -50 }, [
      rule(dport, is(bytes(0, 99)), verdict('drop')),
    ]);
    expect(await verdictsOf([to(1, -90), after])).toEqual(['drop']);
  });

  it.each([
    ['before', 50, 0],
    ['after', 150, 0x10],
  ])('see what became of the source, %s that', async (_, priority, expected) => {
    const masquerades = table({ type: 'nat', hook: 'postrouting', priority: 100 }, [
      rule({ kind: 'masquerade', fullyRandom: false }),
    ]);
    const looks = table({ hook: 'postrouting', priority }, [
      rule({ kind: 'ct', to: 0, key: 'status' }, is(bytes(expected, 0, 0, 0)), verdict('drop')),
    ]);
    expect(await verdictsOf([masquerades, looks])).toEqual(['drop']);
  });

  it('see that the destination was rewritten', async () => {
    const translates = table({ type: 'nat', hook: 'prerouting', priority: -100 }, [
      rule(
        { kind: 'immediate', to: 0, value: bytes(10, 9, 9, 1) },
        { kind: 'nat', type: 'dnat', address: 0, port: undefined },
      ),
    ]);
    const looks = table({}, [
      rule({ kind: 'ct', to: 0, key: 'status' }, is(bytes(0x20, 0, 0, 0)), verdict('drop')),
    ]);
    expect(await verdictsOf([translates, looks])).toEqual(['drop']);
    expect(await verdictsOf([looks])).toEqual(['untouched']);
  });

  it('go every way where a number is drawn', async () => {
    const drawn: Expression = { kind: 'random', to: 0, modulus: 4, offset: 0 };
    const found = await endings([table({}, [rule(drawn, is(bytes(3, 0, 0, 0)), verdict('drop'))])]);
    const whatIsDrawn = ({ steps }: PacketPath) => steps[0]!.effect.split(';')[0];
    expect(found.map((each) => [each.verdict, each.probability, whatIsDrawn(each)])).toEqual([
      ['drop', 0.25, 'draws 4 of 4'],
      ['untouched', 0.75, 'draws one of 3 of 4'],
    ]);
  });

  it('tell numbers apart where a later rule may: by the priority that they gave', async () => {
    const drawn: Expression = { kind: 'random', to: 0, modulus: 3, offset: 0 };
    const takes = rule(drawn, { kind: 'meta-set', from: 0, key: 'priority' });
    const looks = rule({ kind: 'meta', to: 0, key: 'priority' }, is(bytes(2, 0, 0, 0)), verdict('drop'));
    const found = await endings([table({}, [takes, looks])]);
    expect(found.map((each) => [each.verdict, each.probability])).toEqual([
      ['drop', 1 / 3],
      ['untouched', 1 / 3],
      ['untouched', 1 / 3],
    ]);
  });

  it('hash what a packet tells, and draw where any source port is possible', async () => {
    const range = { to: 0, modulus: 4, offset: 0, seed: 0x6d61676c } as const;
    const port = { kind: 'payload', base: 'transport', offset: 0, length: 2 } as const;
    const hashes = (from: number, length: number): Expression => ({ kind: 'hash', from, length, ...range });
    const address: Expression = { kind: 'payload', to: 16, base: 'network', offset: 12, length: 4 };
    const drops = [is(bytes(0, 0, 0, 0)), verdict('drop')] as const;
    const byAddress = await endings([table({}, [rule(address, hashes(16, 4), ...drops)])]);
    expect(byAddress.map(({ probability }) => probability)).toEqual([1]);
    const byPort = await endings([table({}, [rule(address, { ...port, to: 20 }, hashes(16, 8), ...drops)])]);
    expect(byPort.map(({ verdict: its, probability }) => [its, probability])).toEqual([
      ['drop', 0.25],
      ['untouched', 0.75],
    ]);
    // The port is loaded, but not hashed.
    const beside = await endings([table({}, [rule(address, { ...port, to: 20 }, hashes(16, 4), ...drops)])]);
    expect(beside).toHaveLength(1);
  });

  it.each([
    [2, bytes(1, 0, 3, 2, 5, 4, 7, 6)],
    [4, bytes(3, 2, 1, 0, 7, 6, 5, 4)],
    [8, bytes(7, 6, 5, 4, 3, 2, 1, 0)],
  ])('turn the bytes of words of %i bytes around', async (size, turned) => {
    const value = bytes(0, 1, 2, 3, 4, 5, 6, 7);
    const turns = rule(
      { kind: 'immediate', to: 0, value },
      { kind: 'byteorder', from: 0, to: 0, length: 8, size },
      is(turned),
      verdict('drop'),
    );
    expect(await verdictsOf([table({}, [turns])])).toEqual(['drop']);
  });

  it.each([
    ['an expression that is not known', [unknown, verdict('drop')], 'osf'],
    [
      'a number with too many values',
      [{ kind: 'random', to: 0, modulus: 1e6, offset: 0 }, verdict('drop')],
      'random',
    ],
    [
      'a set that is gone',
      [dport, { kind: 'lookup', set: 'gone', from: 0, inverted: false }, verdict('drop')],
      'lookup',
    ],
  ] as const)('are passed over with a remark where there is %s', async (_, expressions, name) => {
    const [ending] = await endings([table({}, [rule(...expressions)])]);
    expect(ending!.verdict).toBe('untouched');
    expect(ending!.steps).toMatchObject([
      { uncertain: true, foreign: true, effect: expect.stringContaining(name) as string },
    ]);
  });

  it('need not be understood where they do not match, or decide nothing', async () => {
    const elsewhere = rule(dport, is(bytes(0, 81)), unknown, verdict('drop'));
    const decidesNothing = rule(
      { kind: 'meta', to: 0, key: 'oif' },
      { kind: 'indifferent', name: 'counter' },
    );
    const [ending] = await endings([table({}, [elsewhere, decidesNothing])]);
    expect(ending).toMatchObject({ verdict: 'untouched', steps: [] });
  });

  it('hand packets to programs that may do anything', async () => {
    const [ending] = await endings([table({}, [rule(verdict('queue'))])]);
    expect(ending).toMatchObject({ verdict: 'untouched', steps: [{ uncertain: true }] });
  });

  it('find the first packet within a limit', async () => {
    const limited = (inverted: boolean) => [table({}, [rule({ kind: 'limit', inverted }, verdict('drop'))])];
    expect(await verdictsOf(limited(false))).toEqual(['drop']);
    expect(await verdictsOf(limited(true))).toEqual(['untouched']);
  });
});

describe('sets of the kernel', () => {
  const lookUp = (set: KernelSet, to?: 'verdict'): KernelTable =>
    table(
      {},
      [
        rule(
          dport,
          { kind: 'lookup', set: set.name, from: 0, inverted: false, ...(to && { to }) },
          ...(to ? [] : [verdict('drop')]),
        ),
      ],
      { sets: [set] },
    );
  const single: KernelSet = { name: 's', keyLength: 2, ranges: 'single' };
  const range = (first: number, end: number): readonly KernelElement[] => [
    { key: bytes(0, first) },
    { key: bytes(0, end), isEnd: true },
  ];

  it('name the service port in the steps of this program, and in those of no other one', async () => {
    const set: KernelSet = { name: 's', keyLength: 2 };
    const marks = rule(
      { kind: 'immediate', to: 8, value: bytes(1, 0, 0, 0) },
      { kind: 'meta-set', from: 8, key: 'mark' },
    );
    const found = rule(dport, { kind: 'lookup', set: 's', from: 0, inverted: false });
    const ours: KernelTable = {
      ...table({ priority: -1 }, [found, marks], { sets: [set] }),
      family: 'ip',
      name: TABLE_NAME,
    };
    const elements = [{ key: bytes(0, 80), comment: 'shop/cart/tcp/http' }];
    const [{ steps }] = (await endings([ours, table({}, [rule(verdict('drop'))])], elements)) as [PacketPath];
    expect(steps.map(({ servicePort, foreign }) => [servicePort, foreign])).toEqual([
      ['shop/cart/tcp/http', undefined],
      [undefined, true],
    ]);
    expect(steps[1]).not.toHaveProperty('servicePort');
    const [other] = await endings([lookUp(set)], elements);
    expect(other!.steps[0]).not.toHaveProperty('servicePort');
  });

  it('are asked for the key alone, if they have no ranges', async () => {
    const set = { name: 's', keyLength: 2 };
    expect(await verdictsOf([lookUp(set)], [{ key: bytes(0, 80) }])).toEqual(['drop']);
    expect(await verdictsOf([lookUp(set)], [{ key: bytes(0, 81) }])).toEqual(['untouched']);
  });

  it.each([
    [range(70, 80), 'untouched'],
    [range(70, 81), 'drop'],
    [range(80, 81), 'drop'],
    [range(81, 90), 'untouched'],
    [[...range(70, 80), ...range(80, 90)], 'drop'],
    [[...range(80, 90), ...range(70, 80)], 'drop'],
    [[{ key: bytes(0, 79) }], 'drop'],
    [[], 'untouched'],
  ] as const)('of ranges hold 80 as %j says', async (elements, expected) => {
    expect(await verdictsOf([lookUp(single)], elements)).toEqual([expected]);
  });

  it('of concatenated ranges hold a key if each field is within', async () => {
    const set: KernelSet = { name: 's', keyLength: 8, ranges: [2, 4] };
    const both = table(
      {},
      [
        rule(
          dport,
          { kind: 'payload', to: 4, base: 'network', offset: 16, length: 4 },
          { kind: 'lookup', set: 's', from: 0, inverted: false },
          verdict('drop'),
        ),
      ],
      { sets: [set] },
    );
    const element = (port: number, last: number, network = 198): KernelElement => ({
      key: bytes(0, port, 0, 0, network, 51, 100, 0),
      lastKey: bytes(0, last, 0, 0, network, 51, 100, 255),
    });
    expect(await verdictsOf([both], [element(79, 81)])).toEqual(['drop']);
    expect(await verdictsOf([both], [element(80, 80)])).toEqual(['drop']);
    expect(await verdictsOf([both], [element(78, 79)])).toEqual(['untouched']);
    expect(await verdictsOf([both], [element(81, 90)])).toEqual(['untouched']);
    expect(await verdictsOf([both], [element(79, 81, 197)])).toEqual(['untouched']);
    expect(await verdictsOf([both], [element(79, 81, 199)])).toEqual(['untouched']);
  });

  it('may have an element for all other keys', async () => {
    const elements = [...range(1, 2), { verdict: { code: 'drop' } } as KernelElement];
    expect(await verdictsOf([lookUp(single, 'verdict')], elements)).toEqual(['drop']);
  });
});
