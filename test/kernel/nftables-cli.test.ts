import { CliNftTransport } from '../../src/adapters/nftables/cli/cli-transport.js';
import {
  NftFailedError,
  NftMissingError,
  NftPermissionError,
  NftTooOldError,
} from '../../src/adapters/nftables/cli/errors.js';
import { NftCommitError } from '../../src/adapters/nftables/transport.js';
import { IP_FAMILIES, type IpFamily } from '../../src/domain/net/ip-family.js';
import { parseTable } from '../support/nftables/parse-table.js';
import { parseRule } from '../../src/domain/nftables/text/parse-rule.js';
import { renderTable } from '../../src/domain/nftables/text/render-text.js';
import {
  nftFamily,
  type Operation,
  type SetDefinition,
  type SetElement,
} from '../../src/domain/nftables/layout/table.js';
import { sampleTable } from '../support/nftables/every-statement.js';
import { WorkBetweenTurns } from '../support/work-between-turns.js';
import { NftNamespace } from './nftables-cli-namespace.js';

const ADDRESSES: SetDefinition = { name: 'a', key: ['address'] };
const PLACES: SetDefinition = { name: 'm', key: ['address'], value: ['address', 'port'] };
const TABLE: Operation = { op: 'add-table', comment: 'test' };

/** The operations that make the sample table. */
function operationsOf(family: IpFamily): Operation[] {
  const { comment, sets, chains } = sampleTable(family);
  return [
    { op: 'add-table', comment },
    ...chains.map(({ chain }): Operation => ({ op: 'add-chain', chain })),
    ...sets.map(({ set }): Operation => ({ op: 'add-set', set })),
    ...chains.flatMap(({ chain, rules }) =>
      rules.map((rule): Operation => ({ op: 'add-rule', chain: chain.name, rule })),
    ),
    ...sets.map(({ set, elements }): Operation => ({ op: 'add-elements', set, elements })),
  ];
}

const byKey = (elements: Iterable<SetElement>) =>
  new Map([...elements].map((element) => [element.key, element]));

async function refusal(attempt: Promise<void>): Promise<NftCommitError> {
  const outcome = await attempt.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(NftCommitError);
  return outcome as NftCommitError;
}

describe('nftables by way of nft', () => {
  let namespace: NftNamespace;
  let transport: CliNftTransport;

  beforeEach(() => {
    namespace = new NftNamespace('nfttext');
    transport = new CliNftTransport({ command: namespace.command });
  });
  afterEach(async () => {
    await transport.close();
    namespace.remove();
  });

  it.each(IP_FAMILIES)('reads back what it committed (%s)', async (family) => {
    const { sets, chains } = sampleTable(family);
    await transport.commit(family, operationsOf(family));
    const state = await transport.read(
      family,
      sets.map(({ set }) => set),
    );
    for (const { set, elements } of sets) {
      expect(state!.sets.get(set.name)).toEqual({
        fingerprint: transport.fingerprintSet(family, set),
        elements: byKey(elements),
      });
    }
    for (const { chain, rules } of chains) {
      expect(state!.chains.get(chain.name)).toEqual({
        fingerprint: transport.fingerprintChain(chain),
        rules: rules.map((rule) => transport.fingerprintRule(family, rule)),
      });
    }
    expect([state!.sets.size, state!.chains.size]).toEqual([sets.length, chains.length]);
    expect(await transport.read(family === 'IPv4' ? 'IPv6' : 'IPv4', [])).toBeUndefined();
    expect(await transport.generation()).toBeUndefined();
  });

  it.each(IP_FAMILIES)(
    'fully numeric listings, as without /etc/protocols, mean the same (%s)',
    async (family) => {
      const { sets, chains } = sampleTable(family);
      await transport.commit(family, operationsOf(family));
      const parsed = parseTable(
        family,
        namespace.nft('-s', '-nn', 'list', 'table', nftFamily(family), 'kube-proxy'),
      );
      for (const { set, elements } of sets)
        expect(parsed.sets.get(set.name)!.elements).toEqual(byKey(elements));
      for (const { chain, rules } of chains) {
        expect(parsed.chains.get(chain.name)!.rules.map((text) => parseRule(family, text))).toEqual(rules);
      }
    },
  );

  it.each(IP_FAMILIES)('a rendered table loads and lists as itself (%s)', (family) => {
    const text = renderTable(family, sampleTable(family));
    namespace.load(text, '--check');
    expect(namespace.nft('list', 'ruleset')).toBe('');
    namespace.load(text);
    const listed = namespace.nft('-s', '-y', '-T', 'list', 'table', nftFamily(family), 'kube-proxy');
    const [ours, theirs] = [parseTable(family, text), parseTable(family, listed)];
    expect(theirs.sets).toEqual(ours.sets);
    expect(theirs.chains.keys()).toEqual(ours.chains.keys());
    for (const [name, { rules }] of ours.chains) {
      expect(theirs.chains.get(name)!.rules.map((rule) => parseRule(family, rule))).toEqual(
        rules.map((rule) => parseRule(family, rule)),
      );
    }
    namespace.load(`flush ruleset\n${listed}`);
  });

  it('names the operation and element that the kernel refused, and leaves the kernel as it was', async () => {
    const element = (index: number, port: number) => ({
      key: `10.0.${index >> 8}.${index & 255}`,
      value: `10.1.0.1 . ${port}`,
    });
    const elements = Array.from({ length: 500 }, (_, index) => element(index, 80));
    await transport.commit('IPv4', [
      TABLE,
      { op: 'add-set', set: PLACES },
      { op: 'add-elements', set: PLACES, elements: [element(3, 80), element(431, 80)] },
    ]);
    const changed = elements.map((same, index) => (index === 3 || index === 431 ? element(index, 81) : same));

    const error = await refusal(
      transport.commit('IPv4', [
        { op: 'add-chain', chain: { name: 'c' } },
        { op: 'add-elements', set: PLACES, elements: changed },
        { op: 'delete-chain', chain: 'none' },
        { op: 'delete-elements', set: PLACES, elements: [element(250, 80), { key: '10.9.9.9' }] },
      ]),
    );

    expect(error.failures).toEqual([
      { operation: 1, element: 3, reason: 'EEXIST' },
      { operation: 1, element: 431, reason: 'EEXIST' },
      { operation: 2, reason: 'ENOENT' },
      { operation: 3, element: 1, reason: 'ENOENT' },
    ]);
    const state = await transport.read('IPv4', [PLACES]);
    expect(state!.chains.size).toBe(0);
    expect([...state!.sets.get('m')!.elements.keys()].sort()).toEqual(['10.0.0.3', '10.0.1.175']);
  });

  it('removes what it is told to remove', async () => {
    const chain = { name: 'c' };
    await transport.commit('IPv4', [
      TABLE,
      { op: 'add-chain', chain },
      { op: 'add-set', set: PLACES },
      { op: 'add-set', set: ADDRESSES },
      { op: 'add-rule', chain: 'c', rule: { statements: [{ kind: 'drop' }] } },
      {
        op: 'add-elements',
        set: PLACES,
        elements: [{ key: '10.0.0.1', value: '10.0.0.2 . 80', comment: 'x' }],
      },
      { op: 'add-elements', set: ADDRESSES, elements: [{ key: '10.0.0.1' }] },
    ]);
    await transport.commit('IPv4', [
      { op: 'flush-chain', chain: 'c' },
      { op: 'flush-set', set: ADDRESSES },
      {
        op: 'delete-elements',
        set: PLACES,
        elements: [{ key: '10.0.0.1', value: '10.0.0.2 . 80', comment: 'x' }],
      },
    ]);
    const state = await transport.read('IPv4', [PLACES, ADDRESSES]);
    expect(state!.chains.get('c')!.rules).toEqual([]);
    expect([...state!.sets.values()].map(({ elements }) => elements.size)).toEqual([0, 0]);
    await transport.commit('IPv4', [
      { op: 'delete-chain', chain: 'c' },
      { op: 'delete-set', set: PLACES },
      { op: 'delete-set', set: ADDRESSES },
    ]);
    expect(await transport.read('IPv4', [])).toEqual({ chains: new Map(), sets: new Map() });
    await transport.commit('IPv4', [{ op: 'delete-table' }]);
    expect(await transport.read('IPv4', [])).toBeUndefined();
  });

  it('replaces a table in one transaction, and leaves out elements of sets with another layout', async () => {
    await transport.commit('IPv4', [
      TABLE,
      { op: 'add-set', set: PLACES },
      { op: 'add-elements', set: PLACES, elements: [{ key: '10.0.0.1', value: '10.0.0.2 . 80' }] },
    ]);
    const other: SetDefinition = { ...PLACES, value: 'verdict' };
    const state = await transport.read('IPv4', [other]);
    expect(state!.sets.get('m')!.fingerprint).not.toBe(transport.fingerprintSet('IPv4', other));
    expect(state!.sets.get('m')!.elements.size).toBe(0);
    await transport.commit('IPv4', [TABLE, { op: 'delete-table' }, TABLE, { op: 'add-set', set: other }]);
    expect((await transport.read('IPv4', [other]))!.sets.get('m')!.fingerprint).toBe(
      transport.fingerprintSet('IPv4', other),
    );
  });

  it('sees that another program deleted the table', async () => {
    await transport.commit('IPv4', [TABLE, { op: 'add-set', set: ADDRESSES }]);
    namespace.nft('delete', 'table', 'ip', 'kube-proxy');
    const error = await refusal(
      transport.commit('IPv4', [{ op: 'add-elements', set: ADDRESSES, elements: [{ key: '10.0.0.1' }] }]),
    );
    expect(error.failures).toEqual([{ operation: 0, reason: 'ENOENT' }]);
    expect(await transport.read('IPv4', [ADDRESSES])).toBeUndefined();
  });

  it('refuses hostile text by name, before nft sees any of it', async () => {
    const elements = [{ key: '10.0.0.1' }, { key: '10.0.0.2 }\nflush ruleset\n' }];
    const error = await refusal(
      transport.commit('IPv4', [
        TABLE,
        { op: 'add-set', set: ADDRESSES },
        { op: 'add-elements', set: ADDRESSES, elements },
        { op: 'delete-chain', chain: 'a;b' },
      ]),
    );
    expect(error.failures.map(({ operation, element }) => [operation, element])).toEqual([
      [2, 1],
      [3, undefined],
    ]);
    expect(namespace.nft('list', 'ruleset')).toBe('');
  });

  it('carries many elements without holding up the process', async () => {
    const elements = Array.from({ length: 50_000 }, (_, index) => ({
      key: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    }));
    const work = new WorkBetweenTurns();
    await transport.commit('IPv4', [
      TABLE,
      { op: 'add-set', set: ADDRESSES },
      { op: 'add-elements', set: ADDRESSES, elements },
    ]);
    const state = await transport.read('IPv4', [ADDRESSES]);
    const { longest, total } = work.end();
    expect(longest).toBeLessThan(total / 4);
    expect(state!.sets.get('a')!.elements.size).toBe(elements.length);
  });

  it('an empty commit starts nothing', async () => {
    const nothing = new CliNftTransport({ command: '/nonexistent/nft' });
    await nothing.commit('IPv4', []);
    await nothing.commit('IPv4', [{ op: 'add-elements', set: ADDRESSES, elements: [] }]);
  });
});

describe('where nft cannot be used', () => {
  let namespace: NftNamespace;
  beforeAll(() => {
    namespace = new NftNamespace('nfttool');
  });
  afterAll(() => namespace.remove());

  it('says that it is missing, and works once it is there', async () => {
    const path = process.env.PATH;
    const transport = new CliNftTransport();
    try {
      process.env.PATH = '';
      await expect(transport.commit('IPv4', [TABLE])).rejects.toThrow(NftMissingError);
      await expect(transport.read('IPv4', [])).rejects.toThrow(NftMissingError);
      namespace.program('nft', `PATH=${path}; exec ip netns exec ${namespace.name} nft "$@"`);
      process.env.PATH = namespace.command.replace(/\/nft$/, '');
      expect(await transport.read('IPv4', [])).toBeUndefined();
    } finally {
      process.env.PATH = path;
    }
  });

  it.each(['nftables v0.9.8 (E.D.S.)', 'nftables v1.0.0 (Fearless Fosdick)'])(
    'says that %s is too old',
    async (version) => {
      const transport = new CliNftTransport({ command: namespace.program('old-nft', `echo '${version}'`) });
      await expect(transport.commit('IPv4', [TABLE])).rejects.toThrow(NftTooOldError);
    },
  );

  it('says that it is not permitted', async () => {
    const unprivileged = namespace.program(
      'plain-nft',
      `exec ip netns exec ${namespace.name} setpriv --reuid=65534 --clear-groups --inh-caps=-all --bounding-set=-all nft "$@"`,
    );
    const transport = new CliNftTransport({ command: unprivileged });
    await expect(transport.commit('IPv4', [TABLE])).rejects.toThrow(NftPermissionError);
    await expect(transport.read('IPv4', [])).rejects.toThrow(NftPermissionError);
  });

  it('ends a run that hangs, after its time or on close', async () => {
    const hanging = namespace.program(
      'slow-nft',
      `case "$1" in --version) echo 'nftables v1.0.6 (x)';; *) exec sleep 60;; esac`,
    );
    const impatient = new CliNftTransport({ command: hanging, timeoutMilliseconds: 200 });
    await expect(impatient.commit('IPv4', [TABLE])).rejects.toThrow(NftFailedError);
    const closed = new CliNftTransport({ command: hanging });
    const running = closed.commit('IPv4', [TABLE]);
    setTimeout(() => void closed.close(), 200);
    await expect(running).rejects.toThrow(NftFailedError);
    await expect(closed.read('IPv4', [])).rejects.toThrow(NftFailedError);
  });

  it('lists again while elements come twice, for others are left out then', async () => {
    const listing = (...keys: readonly string[]): string =>
      `table ip kube-proxy {\n\tset a {\n\t\ttype ipv4_addr\n\t\telements = { ${keys.join(', ')} }\n\t}\n}\n`;
    const growing = namespace.program(
      'growing-nft',
      `case "$1" in --version) echo 'nftables v1.0.6 (x)'; exit;; esac
       if [ -e "$0.asked" ]; then echo '${listing('10.0.0.1', '10.0.0.2')}'
       else echo '${listing('10.0.0.1', '10.0.0.1')}'; fi
       : > "$0.asked"`,
    );
    const state = await new CliNftTransport({ command: growing }).read('IPv4', [ADDRESSES]);
    expect([...state!.sets.get('a')!.elements.keys()]).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it('does not take a listing that broke off for a table', async () => {
    const broken = namespace.program(
      'broken-nft',
      `case "$1" in --version) echo 'nftables v1.0.6 (x)';; *) echo 'table ip kube-proxy {'; echo '	chain c {';; esac`,
    );
    await expect(new CliNftTransport({ command: broken }).read('IPv4', [])).rejects.toThrow(
      'expected the end of the table',
    );
  });
});
