import { setImmediate as turn } from 'node:timers/promises';
import { sampleEntry, sampleNode, type SampleShape } from '../../../src/adapters/contract/sample-services.js';
import { MemoryIptables } from '../../../src/adapters/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { IptablesBackend } from '../../../src/adapters/iptables/iptables-backend.js';
import { BLIND_WATCH } from '../../../src/adapters/iptables/rules-watch.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { ForwardingChange } from '../../../src/domain/forwarding/forwarding-table.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import type { IptablesHost } from '../../../src/domain/iptables/options.js';
import type { TableName } from '../../../src/domain/iptables/table.js';
import { HOST } from './services.js';

const node = sampleNode('IPv4');
const sample = (name: string, shape: SampleShape) => sampleEntry('IPv4', name, shape);
/** More than 1,000 endpoints in all, which make a cluster large. */
const large = [
  sample('most', { number: 1, endpoints: 990 }),
  sample('more', { number: 2, endpoints: 20, affinitySeconds: 60 }),
  sample('local', { number: 3, endpoints: 3, external: true, nodePort: 30_080, externalPolicyLocal: true }),
  sample('firewall', { number: 4, endpoints: 2, external: true, sourceRanges: true }),
  sample('empty', { number: 5, endpoints: 0 }),
];

let iptables: MemoryIptables;
let compiled: string[];
let readHost: () => Promise<IptablesHost>;
beforeEach(() => {
  iptables = new MemoryIptables();
  compiled = [];
  readHost = () => Promise.resolve(HOST);
});

function open(on = iptables): IptablesBackend {
  return new IptablesBackend('IPv4', on, on.watch(), () => readHost(), new MemoryLogger(), {
    compile(entry, options) {
      compiled.push(entry.name.name);
      return compileIptables(entry, options);
    },
  });
}

/** Hands these over, and waits until the host has been read and nothing is left to do. */
async function prepare(
  backend: IptablesBackend,
  changed: readonly ForwardingChange[],
  network = node,
): Promise<void> {
  await backend.prepare(changed, network);
  await turn();
  await backend.prepare([], network);
}

const changes = (...entries: readonly ForwardingEntry[]): readonly ForwardingChange[] =>
  entries.map((entry) => ({ key: entry.key, entry }));

/** Every chain with its rules, in whatever order the chains were made. */
function contents(of: MemoryIptables): ReadonlyMap<string, readonly string[]> {
  const places = of.userChains('IPv4').map((place) => place.split(' ') as [TableName, string]);
  return new Map(places.map(([table, chain]) => [`${table} ${chain}`, of.chain('IPv4', table, chain)!]));
}

/**
 * Starts, and holds what is written against a start without preparation; what the backend believes to be there is so.
 * Returns what was compiled by the start.
 */
async function startsAsEver(
  backend: IptablesBackend,
  entries: readonly ForwardingEntry[],
  network = node,
): Promise<readonly string[]> {
  compiled = [];
  const { failed, written } = await backend.start(entries, network);
  const byStart = [...compiled];
  expect([failed, written]).toEqual([[], iptables.linesWritten]);
  const other = new MemoryIptables();
  const ever = await open(other).start(entries, network);
  expect(contents(iptables)).toEqual(contents(other));
  expect(written).toBe(ever.written);
  iptables.tamper('IPv4', '*nat\n:KUBE-SVC-STALE - [0:0]\nCOMMIT\n');
  const { compared, written: repaired } = await backend.verify('inspection');
  expect([compared, repaired]).toEqual([true, 2]);
  return byStart;
}

describe('prepare', () => {
  it('compiles ahead, so that the start compiles nothing and writes the same', async () => {
    const backend = open();
    await prepare(backend, changes(...large), node);
    expect(compiled).toEqual(large.map(({ name }) => name.name));
    expect(iptables.restores).toBe(0);
    expect(iptables.saves).toBe(1);
    expect(await startsAsEver(backend, large)).toEqual([]);
    // The other is that of the comparison.
    expect(iptables.saves).toBe(2);
  });

  it('counts the same rules', async () => {
    const counts: unknown[] = [];
    for (const prepares of [true, false]) {
      const observer = {
        restored() {},
        restoreFailed() {},
        rulesCounted: (...all: unknown[]) => counts.push(all),
      };
      const on = new MemoryIptables();
      const backend = new IptablesBackend('IPv4', on, on.watch(), readHost, new MemoryLogger(), { observer });
      if (prepares) await prepare(backend, changes(...large), node);
      await backend.start(large, node);
    }
    expect(counts).toHaveLength(4);
    expect(counts.slice(0, 2)).toEqual(counts.slice(2));
  });

  it('waits until the cluster is known to be large, and then makes up for it', async () => {
    const backend = open();
    await prepare(backend, changes(large[0]!), node);
    expect(compiled).toEqual([]);
    await prepare(backend, changes(large[1]!), node);
    expect(compiled).toEqual(['most', 'more']);
    expect(await startsAsEver(backend, large)).toEqual(['local', 'firewall', 'empty']);
  });

  it('makes up for what came before the host was read, little by little', async () => {
    const many = Array.from({ length: 230 }, (_, index) =>
      sample(`s${index}`, { number: index + 1, endpoints: 5 }),
    );
    let answer = (_: IptablesHost): void => {};
    readHost = () => new Promise((resolve) => (answer = resolve));
    const backend = open();
    await prepare(backend, changes(...many));
    expect(compiled).toEqual([]);
    answer(HOST);
    await turn();
    const counts: number[] = [];
    for (let call = 0; call < 4; call++) {
      await backend.prepare([], node);
      counts.push(compiled.length);
    }
    expect(counts).toEqual([100, 200, 230, 230]);
    readHost = () => Promise.resolve(HOST);
    expect(await startsAsEver(backend, many)).toEqual([]);
  });

  it('makes anew what changed since and what was joined with it, and leaves out what went', async () => {
    const backend = open();
    await prepare(backend, changes(...large), node);
    await prepare(
      backend,
      [{ key: large[1]!.key, entry: undefined }, ...changes(sample('local', { number: 3 }))],
      node,
    );
    const firewall = sample('firewall', { number: 4, endpoints: 12 });
    const entries = [large[0]!, large[2]!, firewall, large[4]!];
    expect(await startsAsEver(backend, entries)).toEqual(['local', 'firewall', 'empty']);
  });

  it('prepares those anew that were joined with what changed, and no others', async () => {
    const backend = open();
    await prepare(backend, changes(...large));
    compiled = [];
    const local = sample('local', { number: 3, endpoints: 7 });
    await prepare(backend, changes(local));
    expect(compiled.toSorted()).toEqual(['empty', 'firewall', 'local', 'more']);
    const entries = [large[0]!, large[1]!, local, large[3]!, large[4]!];
    expect(await startsAsEver(backend, entries)).toEqual([]);
  });

  it.each([1, 20, Infinity])('joins them to commits of %d chains', async (limit) => {
    iptables.chainLimit = limit;
    const backend = open();
    await prepare(backend, changes(...large));
    expect(await startsAsEver(backend, large)).toEqual([]);
    expect(iptables.restores).toBe(2);
  });

  it.each([
    ['the node is another', large, sampleNode('IPv4', { masqueradeAll: true })],
    ['the cluster turns out to be small', large.slice(1), node],
  ])('makes everything anew when %s', async (_, entries, network) => {
    const backend = open();
    await prepare(backend, changes(...large), node);
    expect(await startsAsEver(backend, entries, network)).toEqual(entries.map(({ name }) => name.name));
  });

  it('prepares everything anew when the node changes meanwhile', async () => {
    const backend = open();
    await prepare(backend, changes(...large.slice(0, 3)), sampleNode('IPv4', { masqueradeAll: true }));
    compiled = [];
    await prepare(backend, changes(...large.slice(3)), node);
    expect(compiled.toSorted()).toEqual(['empty', 'firewall', 'local', 'more', 'most']);
    expect(await startsAsEver(backend, large)).toEqual([]);
  });

  it('leaves it to the start where rules of an earlier process stand', async () => {
    await open().start(large, node);
    const backend = open();
    compiled = [];
    await prepare(backend, changes(...large), node);
    expect(compiled).toEqual([]);
    iptables.saves = 0;
    expect(await backend.start(large, node)).toMatchObject({ written: 0, failed: [] });
    expect(iptables.saves).toBe(0);
  });

  it('writes only what differs where others have made some of it', async () => {
    const backend = open();
    await prepare(backend, changes(...large), node);
    await open().start(large.slice(0, 2), node);
    iptables.saves = 0;
    await backend.start(large, node);
    expect(iptables.saves).toBe(1);
    const other = new MemoryIptables();
    await open(other).start(large, node);
    for (const [table, chain] of other.userChains('IPv4').map((place) => place.split(' ')) as [
      'nat',
      string,
    ][])
      expect([chain, iptables.chain('IPv4', table, chain)?.toSorted()]).toEqual([
        chain,
        other.chain('IPv4', table, chain)!.toSorted(),
      ]);
    expect(iptables.lastInput.match(/^:KUBE-SEP/gm)).toHaveLength(5);
  });

  it('reads the tables again where nothing tells whether somebody touched them', async () => {
    const backend = new IptablesBackend('IPv4', iptables, BLIND_WATCH, readHost, new MemoryLogger());
    await prepare(backend, changes(...large));
    iptables.tamper('IPv4', '*nat\n:KUBE-SVC-STALE - [0:0]\nCOMMIT\n');
    await backend.start(large, node);
    expect(iptables.saves).toBe(2);
    expect(iptables.userChains('IPv4')).not.toContain('nat KUBE-SVC-STALE');
  });

  it('tells which service port a refused line is for, in the midst of what was prepared', async () => {
    iptables.refuse((line) => (line.includes('--to-destination 10.244.2.7:') ? 'no such thing' : undefined));
    const backend = open();
    await prepare(backend, changes(...large), node);
    const { failed } = await backend.start(large, node);
    expect(failed.map(({ key }) => key)).toEqual([large[1]!.key]);
    expect(failed[0]!.reason).toMatch(
      /iptables refused `-A KUBE-SEP-\w+ .*10\.244\.2\.7:8080': no such thing/,
    );
    expect(iptables.chain('IPv4', 'nat', 'KUBE-SERVICES')).toHaveLength(8);
  });

  it('leaves what cannot be compiled to the start, which says so', async () => {
    const bad = { ...large[1]!, affinitySeconds: -1 };
    const backend = open();
    await prepare(backend, changes(large[0]!, bad, large[2]!, large[3]!), node);
    const { failed } = await backend.start([large[0]!, bad, large[2]!, large[3]!], node);
    expect(failed).toEqual([{ key: bad.key, reason: expect.stringContaining('cannot be compiled') }]);
  });

  it('is none where the tools fail; the start says so', async () => {
    iptables.fail(new Error('no tools'));
    const backend = open();
    await prepare(backend, changes(...large), node);
    await expect(backend.start(large, node)).rejects.toThrow('no tools');
    iptables.fail(undefined);
    readHost = () => Promise.reject(new Error('no host'));
    const other = open();
    await prepare(other, changes(...large), node);
    await expect(other.start(large, node)).rejects.toThrow('no host');
  });
});
