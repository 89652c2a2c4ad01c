import { execa } from 'execa';
import { Readable } from 'node:stream';
import { renderTable } from '../../src/adapters/nftables/render-text.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';
import { setText } from '../../src/adapters/nftables/netlink/set-layout.js';
import { leadTo, RETURN, rule, RuleParts, setPriority } from '../../src/domain/nftables/layout/rule-parts.js';
import type { Operation, SetDefinition, SetElement } from '../../src/domain/nftables/layout/table.js';
import { sampleTable, type SampleTable } from '../support/nftables/every-statement.js';
import { DriverBundle, Namespace, type Driver } from '../support/program/in-namespace.js';
import type { NetlinkDriver } from './nftables-netlink/driver.js';

const ADDRESSES: SetDefinition = { name: 'addresses', key: ['address'] };
const PORTS: SetDefinition = { name: 'ports', key: ['protocol', 'port'], value: ['priority'] };
const TABLE: Operation = { op: 'add-table', comment: 'rules for kube-proxy' };

let bundle: DriverBundle<NetlinkDriver>;
let namespace: Namespace;
let driver: Driver<NetlinkDriver>;

beforeAll(async () => {
  bundle = await DriverBundle.make<NetlinkDriver>(new URL('./nftables-netlink/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  namespace = await Namespace.open('nl');
  driver = namespace.drive(bundle);
});
afterEach(() => namespace.close());

/** The sample, with what the layout has beside it: prefixes of many lengths, drawn numbers, comments of rules. */
function wholeTable(family: IpFamily): SampleTable {
  const sample = sampleTable(family);
  const lengths = family === 'IPv4' ? [1, 8, 9, 16, 24, 31, 32] : [1, 7, 8, 48, 56, 63, 64, 127, 128];
  const base = family === 'IPv4' ? '128.0.0.0' : '8000::';
  const parts = new RuleParts(family);
  const drawn = (modulus: number, offset: number) => setPriority(parts.drawn({ modulus, offset }));
  const rules = [
    ...lengths.map((length) => rule([parts.address('daddr', '==', `${base}/${length}`), RETURN])),
    rule([drawn(3, 0x80000000), drawn(1, 0)], 'draws'),
  ];
  return { ...sample, chains: [...sample.chains, { chain: { name: 'more' }, rules }] };
}

function operationsOf({ comment, counters, sets, chains }: SampleTable): Operation[] {
  return [
    { op: 'add-table', comment },
    ...counters.map((counter): Operation => ({ op: 'add-counter', counter })),
    ...sets.map(({ set }): Operation => ({ op: 'add-set', set })),
    ...chains.map(({ chain }): Operation => ({ op: 'add-chain', chain })),
    ...sets.map(({ set, elements }): Operation => ({ op: 'add-elements', set, elements })),
    ...chains.flatMap(({ chain, rules }) =>
      rules.map((rule): Operation => ({ op: 'add-rule', chain: chain.name, rule })),
    ),
  ];
}

/** A listing, without what differs from load to load: handles, and the order of chains, sets and elements. */
async function listing(where: Namespace): Promise<readonly string[]> {
  const raw = await where.run(['nft', '-nn', '--debug=netlink', 'list', 'ruleset']);
  const rules = raw.split('\n').map((line) => line.replace(/^(ip6? kube-proxy \S+) \d+( \d+)?( *)$/, '$1'));
  return rules;
}

describe.each<IpFamily>(['IPv4', 'IPv6'])('a table written over netlink (%s)', (family) => {
  const table = wholeTable(family);
  const text = renderTable(family, table).replace('{\n', `{\n\tcomment "${table.comment}"\n`);
  const name = family === 'IPv4' ? 'ip' : 'ip6';

  it('is what nft loads from the same table as text, and loads again from its listing', async () => {
    const other = await Namespace.open('nft');
    try {
      await other.run(['nft', '-f', '-'], text);
      await driver.ask('commit', family, operationsOf(table));
      expect(sorted(await listing(namespace))).toEqual(sorted(await listing(other)));
      expect(sorted(await driver.ask('rawSets', family))).toEqual(
        sorted(await other.drive(bundle).ask('rawSets', family)),
      );
      const listed = await namespace.run(['nft', '-nn', 'list', 'table', name, 'kube-proxy']);
      await other.run(['nft', 'flush', 'ruleset']);
      await other.run(['nft', '-f', '-'], listed);
      expect(await other.run(['nft', '-nn', 'list', 'table', name, 'kube-proxy'])).toBe(listed);
    } finally {
      await other.close();
    }
  });

  it.each(['netlink', 'nft'])('is read back as it was written, by %s', async (writer) => {
    if (writer === 'netlink') await driver.ask('commit', family, operationsOf(table));
    else await namespace.run(['nft', '-f', '-'], text);
    const sets = table.sets.map(({ set }) => set);
    const state = (await driver.ask('read', family, sets))!;
    expect(byName(state.chains).map((chain) => chain.name)).toEqual(
      byName(table.chains.map(({ chain }) => chain)).map((chain) => chain.name),
    );
    expect(
      table.chains.flatMap(({ chain }) => state.chains.find((it) => it.name === chain.name)!.rules),
    ).toEqual(table.chains.flatMap((chain) => chain.rules));
    expect(table.sets.map(({ set }) => state.sets.find((it) => it.name === set.name)!.layout)).toEqual(
      sets.map((set) => setText(family, set)),
    );
    for (const { set, elements } of table.sets) {
      const found = state.sets.find((it) => it.name === set.name)!.elements;
      expect(byKey(found)).toEqual(byKey(elements));
    }
    const base = state.chains.find((chain) => chain.name === 'nat-postrouting')!;
    expect(base.hook).toEqual({ type: 'nat', hook: 'postrouting', priority: 100, policy: 'accept' });
  });
});

describe('reading', () => {
  it('finds no table where there is none', async () => {
    expect(await driver.ask('read', 'IPv4', [])).toBeUndefined();
    await driver.ask('commit', 'IPv6', [TABLE]);
    expect(await driver.ask('read', 'IPv4', [])).toBeUndefined();
    expect(await driver.ask('read', 'IPv6', [])).toEqual({ chains: [], sets: [] });
  });

  it("leaves out other tables' chains, elements of unknown sets, and those that packets added", async () => {
    await namespace.run(
      ['nft', '-f', '-'],
      `table ip other { chain a { } ; set s { type inet_service; elements = { 1 } ; } ; }
       table ip kube-proxy {
         chain b { counter; meta l4proto { tcp, udp } accept; }
         set strange { type mark; elements = { 7 }; }
         set addresses { type ipv4_addr; flags interval; elements = { 10.0.0.0/8 }; }
         set clients { type classid . ipv4_addr; size 10; flags dynamic,timeout; elements = { 1:2 . 1.2.3.4 timeout 10s } ; }
       }`,
    );
    const clients: SetDefinition = { name: 'clients', key: ['priority', 'address'], dynamicSize: 10 };
    const state = (await driver.ask('read', 'IPv4', [ADDRESSES, clients]))!;
    expect(state.chains.map(({ name, rules }) => [name, rules.length])).toEqual([['b', 2]]);
    expect(state.chains[0]!.rules[0]).toEqual({ expressions: [{ kind: 'indifferent', name: 'counter' }] });
    expect(byName(state.sets).map(({ name, elements }) => [name, elements])).toEqual([
      ['addresses', []],
      ['clients', []],
      ['strange', []],
    ]);
    const layoutOf = (set: SetDefinition) => state.sets.find(({ name }) => name === set.name)!.layout;
    expect(layoutOf(ADDRESSES)).not.toBe(setText('IPv4', ADDRESSES));
    expect(layoutOf(clients)).toBe(setText('IPv4', clients));
  });

  it('finds elements by their keys, however many are missing, with comments and digests', async () => {
    const marked = (number: number): SetElement => ({
      ...ports(number, 1)[0]!,
      comment: `service ${number}`,
      digest: 2 ** 52 + number,
    });
    const numbers = Array.from({ length: 1000 }, (_, index) => index + 1);
    const elements = numbers.map(marked);
    await driver.ask('commit', 'IPv4', [
      TABLE,
      { op: 'add-set', set: PORTS },
      { op: 'add-elements', set: PORTS, elements },
    ]);
    const keys = elements.map(({ key }) => key);
    expect(byKey(await driver.ask('lookUp', 'IPv4', PORTS, keys))).toEqual(byKey(elements));
    expect(byKey(await driver.ask('lookUp', 'IPv4', PORTS, ['nonsense', ...keys]))).toEqual(byKey(elements));
    expect(await driver.ask('lookUp', 'IPv4', PORTS, ['nonsense'])).toEqual([]);
    expect(byKey((await driver.ask('read', 'IPv4', [PORTS]))!.sets[0]!.elements)).toEqual(byKey(elements));

    const some = elements.filter((_, index) => index % 3 === 0);
    await driver.ask('commit', 'IPv4', [{ op: 'delete-elements', set: PORTS, elements: some }]);
    const rest = elements.filter((_, index) => index % 3 !== 0);
    expect(byKey(await driver.ask('lookUp', 'IPv4', PORTS, keys))).toEqual(byKey(rest));

    // nft shows the comments, and drops what it does not know when the table is written from its listing.
    const text = await namespace.run(['nft', 'list', 'table', 'ip', 'kube-proxy']);
    expect(text).toContain('comment "service 2"');
    await namespace.run(['nft', 'delete', 'table', 'ip', 'kube-proxy']);
    expect(await driver.ask('lookUp', 'IPv4', PORTS, keys)).toEqual([]);
    await namespace.run(['nft', '-f', '-'], text);
    const unmarked = rest.map(({ digest: _, ...element }) => element);
    expect(byKey(await driver.ask('lookUp', 'IPv4', PORTS, keys))).toEqual(byKey(unmarked));
  });

  it('is repeated while others commit', async () => {
    await driver.ask('commit', 'IPv4', [TABLE, { op: 'add-set', set: PORTS }]);
    await driver.ask('commit', 'IPv4', [{ op: 'add-elements', set: PORTS, elements: ports(1, 60_000) }]);
    const reading = driver.ask('read', 'IPv4', [PORTS]);
    for (let round = 0; round < 5; round++) {
      await namespace.run([
        'nft',
        'add',
        'element',
        'ip',
        'kube-proxy',
        'ports',
        `{ udp . ${round + 1} : 1:1 }`,
      ]);
    }
    const elements = (await reading)!.sets[0]!.elements;
    const late = elements.filter(({ key }) => key.startsWith('udp')).map(({ key }) => key);
    expect(elements.length - late.length).toBe(60_000);
    expect(late.sort()).toEqual(Array.from({ length: late.length }, (_, index) => `udp . ${index + 1}`));
  });

  it('ends although others commit to their own table all the time', async () => {
    await driver.ask('commit', 'IPv4', [TABLE, { op: 'add-set', set: PORTS }]);
    await driver.ask('commit', 'IPv4', [{ op: 'add-elements', set: PORTS, elements: ports(1, 60_000) }]);
    const stop = await commitAllTheTime(namespace);
    try {
      // On a busy machine the writer may have no turn during a read.
      let commits = 0;
      for (let attempt = 0; attempt < 50 && commits <= 10; attempt++) {
        const before = (await driver.ask('generation'))!;
        const state = (await driver.ask('read', 'IPv4', [PORTS]))!;
        commits = (await driver.ask('generation'))! - before;
        expect(byKey(state.sets[0]!.elements)).toEqual(byKey(ports(1, 60_000)));
        expect(state.chains).toEqual([]);
      }
      expect(commits).toBeGreaterThan(10);
    } finally {
      await stop();
    }
  });

  it('reports the generation of what we commit, whatever comes first in it', async () => {
    const chain = { name: 'c' };
    const elements = ports(1, 2_000);
    const addition: Operation = { op: 'add-rule', chain: 'c', rule: rule([RETURN]) };
    const many = Array.from({ length: 3_000 }, (): Operation => addition);
    const add: Operation = { op: 'add-elements', set: PORTS, elements };
    for (const operations of [
      [TABLE, { op: 'add-set', set: PORTS }],
      [{ op: 'add-chain', chain }],
      many,
      [{ op: 'flush-chain', chain: 'c' }, ...many],
      [{ op: 'delete-chain', chain: 'c' }],
      [add],
      [{ op: 'delete-elements', set: PORTS, elements }, add],
      [{ op: 'delete-set', set: PORTS }],
    ] satisfies Operation[][]) {
      const before = (await driver.ask('generation'))!;
      expect(await driver.ask('commit', 'IPv4', operations)).toBe(before + 1);
      expect(await driver.ask('generation')).toBe(before + 1);
    }
  });

  it('sees a foreign commit beside one of ours that changed nothing', async () => {
    const again: Operation[] = [{ op: 'add-elements', set: PORTS, elements: ports(1, 100) }];
    await driver.ask('commit', 'IPv4', [TABLE, { op: 'add-set', set: PORTS }]);
    const before = await driver.ask('epoch');
    expect(await driver.ask('epoch', again, again)).toBe(before);
    await namespace.run(['nft', 'add', 'table', 'ip', 'other']);
    expect(await driver.ask('epoch', again)).not.toBe(before);
  });

  it('counts everybody’s commits', async () => {
    const first = (await driver.ask('generation'))!;
    await namespace.run(['nft', 'add', 'table', 'ip', 'other']);
    expect(await driver.ask('generation')).toBe(first + 1);
    await driver.ask('commit', 'IPv4', [TABLE]);
    expect(await driver.ask('generation')).toBe(first + 2);
    expect(await driver.ask('generation')).toBe(first + 2);
  });
});

describe('a change', () => {
  it('deletes and flushes what it names', async () => {
    const [first, second] = [{ key: '10.0.0.1' }, { key: '10.0.0.2', comment: 'two' }];
    await driver.ask('commit', 'IPv4', [
      TABLE,
      { op: 'add-set', set: ADDRESSES },
      { op: 'add-set', set: PORTS },
      { op: 'add-chain', chain: { name: 'a' } },
      { op: 'add-chain', chain: { name: 'b' } },
      { op: 'add-elements', set: ADDRESSES, elements: [first!, second!] },
      { op: 'add-elements', set: PORTS, elements: ports(1, 3) },
      { op: 'add-rule', chain: 'a', rule: rule([new RuleParts('IPv4').member(['daddr'], 'addresses')]) },
    ]);
    await driver.ask('commit', 'IPv4', [
      { op: 'flush-chain', chain: 'a' },
      { op: 'delete-chain', chain: 'b' },
      { op: 'delete-elements', set: ADDRESSES, elements: [second!] },
      { op: 'delete-elements', set: PORTS, elements: ports(1, 3) },
    ]);
    const state = (await driver.ask('read', 'IPv4', [ADDRESSES, PORTS]))!;
    expect(state.chains).toMatchObject([{ name: 'a', rules: [] }]);
    expect(state.chains[0]!.hook).toBeUndefined();
    expect(byName(state.sets).map(({ elements }) => elements)).toEqual([[first], []]);
    await driver.ask('commit', 'IPv4', [{ op: 'delete-set', set: { name: 'ports', key: [] } }]);
    expect((await driver.ask('read', 'IPv4', []))!.sets.map(({ name }) => name)).toEqual(['addresses']);
    await driver.ask('commit', 'IPv4', [{ op: 'delete-table' }]);
    expect(await driver.ask('read', 'IPv4', [])).toBeUndefined();
  });
});

describe('what the kernel rejects', () => {
  beforeEach(async () => {
    await driver.ask('commit', 'IPv4', [
      TABLE,
      { op: 'add-set', set: PORTS },
      { op: 'add-elements', set: PORTS, elements: ports(1, 10) },
    ]);
  });

  it('is named by operation and element, and nothing is applied', async () => {
    const elements = ports(5000, 4000);
    elements[3210] = { key: 'tcp . 7', value: '9:9' };
    const refusal = driver.ask('commit', 'IPv4', [
      { op: 'add-chain', chain: { name: 'new' } },
      { op: 'add-elements', set: PORTS, elements },
      { op: 'delete-elements', set: PORTS, elements: [{ key: 'tcp . 1' }, { key: 'udp . 9' }] },
      { op: 'add-rule', chain: 'new', rule: rule([leadTo('jump', 'nowhere')]) },
    ]);
    await expect(refusal).rejects.toMatchObject({
      name: 'NftCommitError',
      family: 'IPv4',
      failures: [
        { operation: 1, element: 3210, reason: 'EEXIST' },
        { operation: 2, element: 1, reason: 'ENOENT' },
        { operation: 3, reason: 'ENOENT' },
      ],
    });
    const state = (await driver.ask('read', 'IPv4', [PORTS]))!;
    expect(state.chains).toEqual([]);
    expect(byKey(state.sets[0]!.elements)).toEqual(byKey(ports(1, 10)));
  });

  it('is told of every operation when the table was deleted by someone else', async () => {
    await namespace.run(['nft', 'delete', 'table', 'ip', 'kube-proxy']);
    const refusal = driver.ask('commit', 'IPv4', [
      { op: 'add-elements', set: PORTS, elements: ports(20, 1) },
      { op: 'add-chain', chain: { name: 'new' } },
    ]);
    await expect(refusal).rejects.toMatchObject({
      failures: [
        { operation: 0, reason: 'ENOENT' },
        { operation: 1, reason: 'ENOENT' },
      ],
    });
    expect(await driver.ask('read', 'IPv4', [])).toBeUndefined();
    await driver.ask('commit', 'IPv4', [TABLE]);
  });

  it('is survived when there are more errors than room for them', async () => {
    await driver.ask('shrinkReceiveBuffer', 16 * 1024);
    const missing = Array.from({ length: 5000 }, (_, index): Operation => ({
      op: 'flush-chain',
      chain: `no-${index}`,
    }));
    const error = await driver.ask('commit', 'IPv4', missing).then(
      () => undefined,
      (reason: unknown) => reason as { failures: { operation: number; reason: string }[] },
    );
    expect(error!.failures.length).toBeGreaterThan(10);
    expect(error!.failures.length).toBeLessThan(5000);
    expect(error!.failures[7]).toEqual({ operation: 7, reason: 'ENOENT' });
    await driver.ask('commit', 'IPv4', [{ op: 'add-chain', chain: { name: 'after' } }]);
    expect((await driver.ask('read', 'IPv4', []))!.chains.map(({ name }) => name)).toEqual(['after']);
  });

  it('includes text that is no element, which is not sent', async () => {
    const generation = await driver.ask('generation');
    const refusal = driver.ask('commit', 'IPv4', [
      { op: 'add-chain', chain: { name: 'new' } },
      { op: 'add-elements', set: PORTS, elements: [...ports(30, 2), { key: 'tcp . 65536', value: '1:2' }] },
    ]);
    await expect(refusal).rejects.toMatchObject({
      failures: [{ operation: 1, element: 2, reason: expect.stringContaining('tcp . 65536') as string }],
    });
    expect(await driver.ask('generation')).toBe(generation);
  });
});

/** One commit after the other to a table `other`, with chains that come and go, until it is stopped. */
async function commitAllTheTime({ name }: Namespace): Promise<() => Promise<void>> {
  const nft = execa('ip', ['netns', 'exec', name, 'nft', '-i'], { reject: false, stdout: 'ignore' });
  const round = 'add chain ip other a\ndelete chain ip other a\n';
  const lines = (function* () {
    yield 'add table ip other\n';
    for (;;) yield round.repeat(1000);
  })();
  Readable.from(lines)
    .on('error', () => undefined)
    .pipe(nft.stdin);
  return async () => {
    nft.kill('SIGKILL');
    await nft;
  };
}

function ports(first: number, count: number): SetElement[] {
  return Array.from({ length: count }, (_, index) => ({ key: `tcp . ${first + index}`, value: '8001:2' }));
}

function sorted(lines: readonly string[]): readonly string[] {
  return [...lines].sort();
}

function byName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return [...items].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function byKey(elements: readonly SetElement[]): SetElement[] {
  return [...elements].sort((one, other) => (one.key < other.key ? -1 : 1));
}
