import { iptablesBackend } from '../../support/backends.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { IptablesWatch } from '../../../src/adapters/iptables/iptables-watch.js';
import { XtablesLockedError } from '../../../src/adapters/iptables/iptables-commands.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { everyKind, variant } from '../../../src/testing/contract/sample-sets.js';
import { changed, gone } from '../../../src/testing/contract/stage.js';
import type { TableName } from '../../../src/domain/iptables/table.js';
import { renderSave } from '../../support/iptables/render-save.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import {
  endpointChain,
  HOST,
  keyOf,
  nodeNetwork,
  serviceChain,
  Services,
} from '../../support/iptables/services.js';

const node = nodeNetwork();
let iptables: MemoryIptables;
let services: Services;
let logger: MemoryLogger;
beforeEach(() => {
  iptables = new MemoryIptables();
  services = new Services();
  logger = new MemoryLogger();
});

function backendOn(watch = iptables.watch()): Backend {
  return iptablesBackend('IPv4', iptables, watch, () => Promise.resolve(HOST), logger, {
    compile: services.compile,
  });
}

async function started(count = 5): Promise<Backend> {
  for (let number = 1; number <= count; number++) services.set(number);
  const backend = backendOn();
  expect((await backend.start(services.all, node)).failed).toEqual([]);
  iptables.linesWritten = 0;
  iptables.restores = 0;
  iptables.saves = 0;
  return backend;
}

const nat = (chain: string) => iptables.chain('IPv4', 'nat', chain);

describe('a chain that no service port has', () => {
  const unused = 'KUBE-SVC-AAAAAAAAAAAAAAAA';
  const load = (...lines: string[]) => iptables.tamper('IPv4', ['*nat', ...lines, 'COMMIT', ''].join('\n'));
  const warnings = () => logger.at('warn').map(({ facts }) => (facts as { reason?: string }).reason);

  it('is a pending deletion with the rule of another program that leads to it', async () => {
    load(`:${unused} - [0:0]`, ':OTHER - [0:0]', `-A OTHER -j ${unused}`);
    const backend = await started(1);
    const reason = `chain ${unused} of table nat is used by the rule of another program \`-A OTHER -j ${unused}'; delete that rule`;
    expect([backend.failedDeletes, warnings()]).toEqual([[reason], [reason]]);
  });

  it('is none where the tool fails: that is logged, once, and tried again', async () => {
    load(`:${unused} - [0:0]`);
    const message = 'another program holds the lock';
    iptables.refuse((line) => (line.startsWith('-X') ? message : undefined));
    const backend = await started(1);
    expect((await backend.verify('full')).retriedDeletes).toBe(true);
    expect([backend.failedDeletes, nat(unused)]).toEqual([[], []]);
    expect(warnings()).toEqual([expect.stringContaining(message)]);
    iptables.refuse(() => undefined);
    await backend.verify('full');
    expect(nat(unused)).toBeUndefined();
  });
});

describe('start', () => {
  it('writes everything in one restore', async () => {
    for (let number = 1; number <= 3; number++) services.set(number);
    const { written } = await backendOn().start(services.all, node);
    expect(iptables.restores).toBe(1);
    expect(written).toBe(iptables.linesWritten);
    expect(nat('KUBE-SERVICES')).toHaveLength(4);
    expect(nat(serviceChain(2))).toHaveLength(2);
    expect(iptables.chain('IPv4', 'filter', 'FORWARD')!.map((rule) => rule.split(' ').at(-1))).toEqual([
      'KUBE-PROXY-FIREWALL',
      'KUBE-FORWARD',
      'KUBE-SERVICES',
      'KUBE-EXTERNAL-SERVICES',
    ]);
  });

  it('lets others have their turn while it compiles', async () => {
    for (let number = 1; number <= 1_000; number++) services.set(number);
    let turn = 0;
    const turns = new Set<number>();
    const compile = (entry: ForwardingEntry) => {
      turns.add(turn);
      return services.compile(entry);
    };
    const host = () => Promise.resolve(HOST);
    const backend = iptablesBackend('IPv4', iptables, iptables.watch(), host, logger, { compile });
    let others = setImmediate(function next() {
      turn++;
      others = setImmediate(next);
    });
    await backend.start(services.all, node);
    clearImmediate(others);
    expect(turns.size).toBeGreaterThan(2);
  });

  it('adopts what is right, jumps where they are, entries in any order', async () => {
    await started();
    const [first, ...rest] = nat('KUBE-SERVICES')!;
    const jump = nat('PREROUTING')![0]!;
    iptables.tamper(
      'IPv4',
      `*nat\n-D KUBE-SERVICES ${first!}\n-I KUBE-SERVICES ${first!}\n-D KUBE-SERVICES ${rest[0]!}\n-I KUBE-SERVICES ${rest[0]!}\n-I PREROUTING -s 10.9.0.0/16 -j ACCEPT\nCOMMIT\n`,
    );
    expect(await backendOn().start(services.all, node)).toEqual({
      written: 0,
      failed: [],
      lost: [],
    });
    expect(nat('PREROUTING')).toEqual(['-s 10.9.0.0/16 -j ACCEPT', jump]);
    expect(iptables.restores).toBe(0);
  });

  it('keeps commits small where many chains are dear, with what leads to them behind', async () => {
    iptables.chainLimit = 4;
    await started(10);
    const commits = iptables.lastInput.split('COMMIT\n').filter((text) => text.startsWith('*nat'));
    expect(commits.length).toBe(5);
    for (const text of commits.slice(0, -1)) expect(text).not.toContain('-A KUBE-SERVICES');
    expect(commits.at(-1)).toContain('-j KUBE-SERVICES');
    expect(await backendOn().start(services.all, node)).toMatchObject({ written: 0 });
  });

  it('removes what an earlier proxy left of services that are gone', async () => {
    await started();
    services.remove(1);
    services.set(2, 1);
    const { written } = await backendOn().start(services.all, node);
    for (const chain of [serviceChain(1), endpointChain(1, 0), endpointChain(2, 1)])
      expect(nat(chain)).toBeUndefined();
    // One rule of the dispatch, the chain of s2 with its rule, and four chains emptied and removed.
    expect(written).toBe(1 + 2 + 8);
  });
});

describe('apply', () => {
  it('costs what changes, and reads nothing', async () => {
    const backend = await started(50);
    expect(await backend.apply([services.set(7, 3)], node)).toEqual({
      written: 7,
      failed: [],
    });
    expect(await backend.apply([services.remove(8)], node)).toMatchObject({ written: 7 });
    expect(await backend.apply([services.set(7, 3)], node)).toMatchObject({ written: 0 });
    expect(iptables.restores).toBe(2);
    expect(iptables.saves).toBe(0);
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
  });

  it('rejects a frontend until the rules for its first endpoint are there', async () => {
    services.setEmpty(1);
    const backend = backendOn();
    await backend.start(services.all, node);
    await backend.apply([services.set(1)], node);
    expect(iptables.lastInput.match(/^\*\w+|^-[DI]/gm)).toEqual(['*nat', '-I', '*filter', '-D']);
  });

  it('tells the watch by how many entries the tables grow', async () => {
    const effects: (number | undefined)[] = [];
    const entries = () =>
      iptables.userChains('IPv4').reduce((sum, text) => {
        const [table, chain] = text.split(' ') as [TableName, string];
        return sum + 2 + iptables.chain('IPv4', table, chain)!.length;
      }, 0);
    const watch: IptablesWatch = {
      seesEveryWrite: false,
      async ours(write, effect) {
        const before = entries();
        const outcome = await write();
        const { entriesGained } = effect(outcome);
        effects.push(entriesGained === undefined ? undefined : entriesGained - (entries() - before));
        return outcome;
      },
      epoch: () => Promise.resolve(undefined),
    };
    const sample = sampleNode('IPv4');
    const [first, ...others] = everyKind('IPv4');
    const backend = iptablesBackend('IPv4', iptables, watch, () => Promise.resolve(HOST), logger);
    await backend.start(others, sample);
    expect(effects).toEqual([undefined]);
    for (const changes of [
      changed(first!, variant('IPv4', 'many', { endpoints: 3 })),
      changed(variant('IPv4', 'sticky', { endpoints: 5 }), variant('IPv4', 'plain', { endpoints: 0 })),
      [...gone(...others.slice(0, 3)), ...changed(variant('IPv4', 'external', { sourceRanges: true }))],
    ])
      await backend.apply(changes, sample);
    expect(effects.slice(1)).toEqual([0, 0, 0]);
    await backend.apply([], sampleNode('IPv4', { masqueradeBit: 15 }));
    expect(effects.at(-1)).toBeUndefined();
  });

  it('rewrites a shared chain if much of it goes', async () => {
    const backend = await started(300);
    const gone = Array.from({ length: 150 }, (_, index) => services.remove(index + 1));
    await backend.apply(gone, node);
    expect(iptables.lastInput).not.toContain('-D ');
    expect(nat('KUBE-SERVICES')).toHaveLength(151);
    expect(await backendOn().start(services.all, node)).toMatchObject({ written: 0 });
  });

  it('follows the node', async () => {
    const backend = await started();
    await backend.apply([], { ...node, nodePortIPs: ['192.0.2.1', '192.0.2.2'] });
    expect(nat('KUBE-SERVICES')!.slice(-2).join()).toMatch(/192.0.2.1\/32.*192.0.2.2\/32/);
    await backend.apply([], node);
    expect(nat('KUBE-SERVICES')!.filter((rule) => rule.endsWith('-j KUBE-NODEPORTS'))).toHaveLength(1);
    expect(await backend.apply([], node)).toMatchObject({ written: 0 });
  });

  it('finds its way back when the tables are not as remembered', async () => {
    const backend = await started();
    iptables.tamper('IPv4', '*nat\n:KUBE-SERVICES - [0:0]\nCOMMIT\n');
    expect(await backend.apply([services.remove(2)], node)).toMatchObject({ failed: [] });
    expect(nat('KUBE-SERVICES')).toHaveLength(5);
    expect(nat(serviceChain(2))).toBeUndefined();
    expect(await backendOn().start(services.all, node)).toMatchObject({ written: 0 });
  });

  it('rejects while iptables cannot be used, and starts again afterwards', async () => {
    const backend = await started();
    const locked = new XtablesLockedError('iptables-legacy-restore', 5, '/run/xtables.lock');
    iptables.fail(locked);
    await expect(backend.apply([services.set(9)], node)).rejects.toBe(locked);
    iptables.fail(undefined);
    expect(await backend.start(services.all, node)).toMatchObject({ failed: [] });
    expect(nat(serviceChain(9))).toHaveLength(2);
  });
});

describe.each([
  ['named by line', true],
  ['not named', false],
])('a refused service that is %s', (_, namesLines) => {
  beforeEach(() => {
    iptables.namesLines = namesLines;
    iptables.refuse((line) => (line.includes('poison') ? 'Invalid argument' : undefined));
  });

  it('keeps what it had, and everything else is applied', async () => {
    const backend = await started(500);
    const before = nat(serviceChain(77));
    const { failed } = await backend.apply(
      [
        ...range(10, 60).map((number) => services.set(number, 3)),
        services.set(77, 1, '-m comment --comment poison'),
      ],
      node,
    );
    expect(failed.map(({ key }) => key)).toEqual([keyOf(77)]);
    expect(failed[0]!.reason).toContain('Invalid argument');
    expect(nat(serviceChain(77))).toEqual(before);
    for (const number of range(10, 60)) expect(nat(serviceChain(number))).toHaveLength(3);
    services.set(77);
    expect(await backendOn().start(services.all, node)).toMatchObject({ written: 0 });
  });

  it('is omitted from a first start', async () => {
    for (const number of range(1, 40)) services.set(number);
    for (const number of [5, 23]) services.set(number, 2, '-m comment --comment poison');
    const { failed } = await backendOn().start(services.all, node);
    expect(failed.map(({ key }) => key).sort()).toEqual([keyOf(23), keyOf(5)]);
    expect(nat('KUBE-SERVICES')).toHaveLength(39);
    expect(nat(serviceChain(40))).toHaveLength(2);
  });

  it('keeps what an earlier process wrote for it', async () => {
    await started(20);
    const entries = nat('KUBE-SERVICES');
    services.set(4, 1, '-m comment --comment poison');
    services.set(5, 4);
    const { failed } = await backendOn().start(services.all, node);
    expect(failed.map(({ key }) => key)).toEqual([keyOf(4)]);
    expect(nat(serviceChain(4))).toHaveLength(2);
    expect(nat(endpointChain(4, 1))).toHaveLength(2);
    expect(nat(serviceChain(5))).toHaveLength(4);
    expect([...nat('KUBE-SERVICES')!].sort()).toEqual([...entries!].sort());
  });

  it('may be well again', async () => {
    const backend = await started(4);
    await backend.apply([services.set(2, 3, '-m comment --comment poison')], node);
    iptables.refuse(() => undefined);
    expect(await backend.apply([services.set(2, 3)], node)).toMatchObject({ failed: [] });
    expect(nat(serviceChain(2))).toHaveLength(3);
  });
});

it('sets aside at once what needs a match that the kernel lacks, and says which', async () => {
  iptables.namesLines = false;
  iptables.lacking = ['statistic'];
  for (const number of range(1, 40)) services.set(number, number % 2 === 0 ? 1 : 3);
  const { failed } = await backendOn().start(services.all, node);
  expect(new Set(failed.map(({ key }) => key))).toEqual(
    new Set(
      range(1, 40)
        .filter((number) => number % 2 === 1)
        .map(keyOf),
    ),
  );
  expect(failed).toHaveLength(20);
  expect(new Set(failed.map(({ reason }) => reason))).toEqual(
    new Set([
      "this kernel lacks the iptables match `statistic' (module xt_statistic): service ports with several endpoints cannot be programmed",
    ]),
  );
  expect(iptables.restores).toBe(2);
  expect(nat('KUBE-SERVICES')).toHaveLength(21);
});

it('reports what cannot be compiled, and keeps what an earlier process wrote for it', async () => {
  await started(3);
  services.setEmpty(3);
  await backendOn().start(services.all, node);
  const rejects = iptables.chain('IPv4', 'filter', 'KUBE-SERVICES');
  expect(rejects).toHaveLength(1);
  iptables.linesWritten = 0;
  const bad = [keyOf(2), keyOf(3), keyOf(4)];
  services.set(4);
  const options = {
    compile: (entry: ForwardingEntry) => {
      if (bad.includes(entry.key)) throw new Error('a comment with a line feed');
      return services.compile(entry);
    },
  };
  const readHost = () => Promise.resolve(HOST);
  const backend = iptablesBackend('IPv4', iptables, iptables.watch(), readHost, logger, options);
  const { failed } = await backend.start(services.all, node);
  expect(failed).toEqual(
    bad.map((key) => ({ key, reason: 'cannot be compiled: a comment with a line feed', limitedBy: 'node' })),
  );
  expect(nat(serviceChain(2))).toHaveLength(2);
  expect(nat('KUBE-SERVICES')).toHaveLength(3);
  expect(iptables.chain('IPv4', 'filter', 'KUBE-SERVICES')).toEqual(rejects);
  expect(iptables.linesWritten).toBe(0);
  await backend.apply([services.remove(2), services.remove(3)], node);
  expect(nat(serviceChain(2))).toBeUndefined();
  expect(nat('KUBE-SERVICES')).toHaveLength(2);
  expect(iptables.chain('IPv4', 'filter', 'KUBE-SERVICES')).toEqual([]);
  await backend.close();
});

describe('verify', () => {
  it('compares only if another program changed the tables', async () => {
    const backend = await started();
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
    iptables.tamper('IPv4', '*filter\n-A INPUT -j ACCEPT\nCOMMIT\n');
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 0 });
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
    expect(iptables.saves).toBe(1);
  });

  it('puts only the missing back', async () => {
    const backend = await started();
    iptables.tamper('IPv4', `*nat\n:${serviceChain(3)} - [0:0]\nCOMMIT\n`);
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 3 });
    iptables.tamper('IPv4', `*mangle\n-X KUBE-PROXY-CANARY\nCOMMIT\n`);
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 1 });
  });

  it('rewrites a chain if another program’s rule in it cannot be deleted by its text', async () => {
    const backend = await started();
    iptables.tamper('IPv4', '*nat\n-I KUBE-SERVICES -m strange -j RETURN\nCOMMIT\n');
    iptables.refuse((line) => (line.startsWith('-D') ? 'Bad rule' : undefined));
    await backend.verify('quick');
    expect(nat('KUBE-SERVICES')).toHaveLength(6);
    expect(nat('KUBE-SERVICES')!.at(-1)).toContain('-j KUBE-NODEPORTS');
  });

  it('without a watch, looks for canaries and jumps', async () => {
    await started();
    const host = () => Promise.resolve(HOST);
    const { compile } = services;
    const backend = iptablesBackend('IPv4', iptables, undefined, host, logger, { compile });
    await backend.start(services.all, node);
    expect(await backend.verify('quick')).toMatchObject({ compared: false });
    expect(await backend.verify('full')).toMatchObject({ compared: true, written: 0 });
    iptables.tamper('IPv4', `*nat\n-D OUTPUT ${nat('OUTPUT')![0]!}\nCOMMIT\n`);
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 1 });
    iptables.tamper('IPv4', '*mangle\n-X KUBE-PROXY-CANARY\nCOMMIT\n');
    expect(await backend.verify('quick')).toMatchObject({ compared: true, written: 1 });
  });

  it.each([true, false])('reports rules that cannot be put back (lines named: %s)', async (namesLines) => {
    const backend = await started(20);
    iptables.namesLines = namesLines;
    const inOrder = nat('KUBE-SERVICES');
    iptables.tamper(
      'IPv4',
      `*nat\n:KUBE-SERVICES - [0:0]\n${inOrder!.map((rule) => `-I KUBE-SERVICES ${rule}\n`).join('')}:${serviceChain(3)} - [0:0]\n:${serviceChain(4)} - [0:0]\nCOMMIT\n`,
    );
    iptables.refuse((line) => (line.startsWith(`-A ${serviceChain(3)} `) ? 'refused' : undefined));
    const chains: (readonly string[])[] = [];
    const restore = iptables.restore.bind(iptables);
    iptables.restore = async (family, input) => {
      const outcome = await restore(family, input).finally(() => chains.push(nat('KUBE-SERVICES')!));
      return outcome;
    };
    const { failed } = await backend.verify('quick');
    expect(failed.map(({ key }) => key)).toEqual([keyOf(3)]);
    expect(nat(serviceChain(4))).toHaveLength(2);
    // None is ever without what it had, nor is the refused one.
    for (const rules of chains) expect(rules).toHaveLength(inOrder!.length);
    expect(await backend.verify('full')).toMatchObject({ written: 0, failed: [] });
  });

  it('says once that a stranger holds on to a chain that nobody needs', async () => {
    const backend = await started();
    iptables.tamper('IPv4', '*nat\n:KUBE-SVC-OLD - [0:0]\n-A OUTPUT -j KUBE-SVC-OLD\nCOMMIT\n');
    for (let count = 0; count < 3; count++) await backend.verify('full');
    expect(logger.at('warn')).toHaveLength(1);
  });

  it('gives way when there is something more urgent', async () => {
    const backend = await started();
    iptables.tamper('IPv4', '*filter\n-A INPUT -j ACCEPT\nCOMMIT\n');
    const stop = new AbortController();
    stop.abort(new Error('a change'));
    await expect(backend.verify('quick', stop.signal)).rejects.toThrow('a change');
    expect(await backend.verify('quick')).toMatchObject({ compared: true });
  });
});

describe('cleanup', () => {
  it('takes away what is ours, and needs no start', async () => {
    await started();
    iptables.tamper('IPv4', '*nat\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n');
    await backendOn().cleanup();
    expect(renderSave(await iptables.save('IPv4')).match(/^.*KUBE.*$/gm)).toEqual([
      ':KUBE-FIREWALL - [0:0]',
      '-A INPUT -j KUBE-FIREWALL',
      '-A OUTPUT -j KUBE-FIREWALL',
      ':KUBE-KUBELET-CANARY - [0:0]',
    ]);
  });

  it('does what it can where a stranger holds on to a chain', async () => {
    const backend = await started();
    iptables.tamper('IPv4', '*nat\n-A OUTPUT -s 10.0.0.0/8 -j KUBE-SERVICES\nCOMMIT\n');
    await expect(backend.cleanup()).rejects.toThrow('rules of IPv4 are left in iptables');
    expect(nat('PREROUTING')).toEqual([]);
    expect(iptables.chain('IPv4', 'filter', 'KUBE-SERVICES')).toBeUndefined();
  });
});

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
