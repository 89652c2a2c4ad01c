import { CommitListener } from '../../../../src/adapters/nftables/netlink/commit-listener.js';
import type { Operation, SetDefinition, SetElement } from '../../../../src/domain/nftables/layout/table.js';
import { setText } from '../../../../src/adapters/nftables/netlink/set-layout.js';
import { leadTo, rule, RuleParts } from '../../../../src/domain/nftables/layout/rule-parts.js';
import { sampleTable } from '../../../support/nftables/every-statement.js';
import { E } from '../../../simulation/kernel/netlink/numbers.js';
import { ForeignBatch, verdict } from '../../../simulation/kernel/nf-tables/foreign-batch.js';
import { FAMILY } from '../../../simulation/kernel/nf-tables/numbers.js';
import { TransportUnderTest } from '../transport-under-test.js';

const PORTS: SetDefinition = { name: 'ports', key: ['protocol', 'port'], value: ['priority'] };
const CLASSES: SetDefinition = { name: 'classes', key: ['priority'], value: 'verdict' };
const TABLE: Operation = { op: 'add-table', comment: 'rules for kube-proxy' };
const FILLED: readonly Operation[] = [
  TABLE,
  { op: 'add-set', set: PORTS },
  { op: 'add-elements', set: PORTS, elements: ports(1, 1000) },
];

function ports(first: number, count: number): SetElement[] {
  return Array.from({ length: count }, (_, index) => ({ key: `tcp . ${first + index}`, value: '8001:2' }));
}

async function filled(release?: string) {
  const place = new TransportUnderTest(release === undefined ? {} : { release });
  const transport = place.open();
  await transport.commit('IPv4', FILLED);
  return { place, transport, kernel: place.kernel };
}

describe('the program’s transport on the simulated kernel', () => {
  it.each(['IPv4', 'IPv6'] as const)('has back what it wrote (%s)', async (family) => {
    const { comment, counters, sets, chains } = sampleTable(family);
    const transport = new TransportUnderTest().open();
    await transport.commit(family, [
      { op: 'add-table', comment },
      ...counters.map((counter): Operation => ({ op: 'add-counter', counter })),
      ...sets.map(({ set }): Operation => ({ op: 'add-set', set })),
      ...chains.map(({ chain }): Operation => ({ op: 'add-chain', chain })),
      ...sets.map(({ set, elements }): Operation => ({ op: 'add-elements', set, elements })),
      ...chains.flatMap(({ chain, rules }) =>
        rules.map((rule): Operation => ({ op: 'add-rule', chain: chain.name, rule })),
      ),
    ]);
    const state = (await transport.read(
      family,
      sets.map(({ set }) => set),
    ))!;
    expect([...state.counters]).toEqual(counters);
    for (const { chain, rules } of chains) {
      const its = state.chains.get(chain.name)!;
      expect(its.hook).toEqual(chain.hook && { ...chain.hook, policy: 'accept' });
      expect(its.rules).toEqual(rules);
    }
    for (const { set, elements } of sets) {
      const its = state.sets.get(set.name)!;
      expect(its.layout).toBe(setText(family, set));
      if (set.dynamicSize === undefined)
        expect([...its.elements.keys()].sort()).toEqual(elements.map(({ key }) => key).sort());
    }
  });

  it('keeps a counter that a rule counts by, and deletes it when none does', async () => {
    const { transport } = await filled();
    const rule = { expressions: [{ kind: 'count', counter: 'hits' }] } as const;
    const deletion: Operation = { op: 'delete-counter', counter: 'hits' };
    await transport.commit('IPv4', [
      { op: 'add-counter', counter: 'hits' },
      { op: 'add-chain', chain: { name: 'counting' } },
      { op: 'add-rule', chain: 'counting', rule },
    ]);
    await expect(transport.commit('IPv4', [deletion])).rejects.toMatchObject({
      failures: [{ operation: 0, reason: 'EBUSY' }],
    });
    expect((await transport.read('IPv4', []))!.counters).toEqual(new Set(['hits']));
    await transport.commit('IPv4', [{ op: 'flush-chain', chain: 'counting' }, deletion]);
    expect((await transport.read('IPv4', []))!.counters).toEqual(new Set());
  });

  it('learns the number of its transaction, and which element is refused', async () => {
    const { transport, kernel } = await filled();
    const more: Operation = { op: 'add-elements', set: PORTS, elements: ports(2000, 1) };
    expect(await transport.commit('IPv4', [more])).toBe(kernel.generation);
    expect(await transport.commit('IPv4', [more])).toBeUndefined();
    const elements = [...ports(3000, 5), { key: 'tcp . 7', value: '9:9' }];
    await expect(
      transport.commit('IPv4', [TABLE, { op: 'add-elements', set: PORTS, elements }]),
    ).rejects.toMatchObject({
      failures: [{ operation: 1, element: 5, reason: 'EEXIST' }],
      isTemporary: false,
    });
    expect((await transport.lookUp('IPv4', PORTS, ['tcp . 2000', 'tcp . 3000'])).size).toBe(1);
  });

  it('is told when the kernel has no memory, refuses it, or does not like a comment', async () => {
    const { transport, kernel } = await filled();
    const marked: Operation = {
      op: 'add-elements',
      set: PORTS,
      elements: [
        ...ports(4000, 2),
        { key: 'tcp . 1', value: '8001:2' },
        { key: 'udp . 1', value: '1:1', comment: 'bad' },
      ],
    };
    kernel.refuseNext({ errno: E.ENOMEM, count: 1 });
    await expect(transport.commit('IPv4', [marked])).rejects.toMatchObject({ isTemporary: true });
    kernel.refuseNext({ errno: E.EPERM, count: 1 });
    await expect(transport.commit('IPv4', [marked])).rejects.toThrow('and no other owner of the table');
    kernel.refuseNext({ errno: 22, count: 1, containing: 'bad' });
    await expect(transport.commit('IPv4', [TABLE])).resolves.toBeUndefined();
    await expect(transport.commit('IPv4', [marked])).rejects.toMatchObject({
      failures: [{ operation: 0, element: 3, reason: 'EINVAL' }],
    });
    await expect(transport.commit('IPv4', [marked])).resolves.toBe(kernel.generation);
  });

  it('does not know what became of a transaction whose answer is lost', async () => {
    const { transport, kernel } = await filled();
    kernel.faults.loseAnswers(1);
    await expect(
      transport.commit('IPv4', [{ op: 'add-elements', set: PORTS, elements: ports(2000, 1) }]),
    ).rejects.toMatchObject({ failures: [{ reason: 'ENOBUFS: the reply was lost' }], isTemporary: true });
    expect((await transport.lookUp('IPv4', PORTS, ['tcp . 2000'])).size).toBe(1);
  });

  it('sees what other programs do, by its number and by a listener', async () => {
    const { place, transport, kernel } = await filled();
    const listener = CommitListener.open((options) => place.openSocket(options));
    const heard: unknown[] = [];
    kernel.onCommit(({ process, changed }) => heard.push([process, [...changed]]));
    const before = await transport.generation();
    const other = new ForeignBatch('inet', 'firewall')
      .addTable()
      .addChain({ name: 'c' })
      .addRule('c', [verdict('DROP')]);
    expect(kernel.transact(7, other.end())).toEqual([]);
    kernel.touch(8, 'iptables');
    expect(await transport.generation()).toBe(before + 2);
    expect(listener.generationsOf(8)).toEqual([before + 2]);
    expect(heard).toEqual([
      [7, ['inet firewall']],
      [8, []],
    ]);
    expect(kernel.transact(7, new ForeignBatch('any', '').flushRuleset().end())).toEqual([]);
    expect(await transport.read('IPv4', [])).toBeUndefined();
  });
});

describe('an element that leads to a chain', () => {
  const leading: Operation = {
    op: 'add-elements',
    set: CLASSES,
    elements: [{ key: '1:1', value: 'goto target' }],
  };
  const goneTogether: readonly Operation[] = [
    { op: 'delete-elements', set: CLASSES, elements: [{ key: '1:1' }] },
    { op: 'delete-chain', chain: 'target' },
  ];

  it.each([
    ['6.1', 'EBUSY'],
    ['6.2', undefined],
  ])('goes in one transaction with the chain, since Linux 6.2 (%s)', async (release, reason) => {
    const { transport } = await filled(release);
    await transport.commit('IPv4', [
      { op: 'add-set', set: CLASSES },
      { op: 'add-chain', chain: { name: 'target' } },
      leading,
    ]);
    await expect(transport.commit('IPv4', [{ op: 'delete-chain', chain: 'target' }])).rejects.toMatchObject({
      failures: [{ operation: 0, reason: 'EBUSY' }],
    });
    const both = transport.commit('IPv4', goneTogether);
    if (reason === undefined) return void (await both);
    await expect(both).rejects.toMatchObject({ failures: [{ operation: 1, reason }] });
    for (const operation of goneTogether) await transport.commit('IPv4', [operation]);
  });

  it.each([
    ['6.10', 'ELOOP'],
    ['6.18', 'EMLINK'],
  ])('cannot lead back to where it is looked up (%s)', async (release, reason) => {
    const { transport } = await filled(release);
    const hook = { type: 'filter', hook: 'input', priority: 0 } as const;
    const circle = transport.commit('IPv4', [
      { op: 'add-set', set: CLASSES },
      { op: 'add-chain', chain: { name: 'target' } },
      { op: 'add-chain', chain: { name: 'base', hook } },
      { op: 'add-rule', chain: 'base', rule: rule([leadTo('goto', 'target')]) },
      {
        op: 'add-rule',
        chain: 'target',
        rule: rule([new RuleParts('IPv4').verdict(['priority'], 'classes')]),
      },
      leading,
    ]);
    await expect(circle).rejects.toMatchObject({ failures: [{ operation: 5, reason }] });
    expect(await transport.read('IPv4', [])).toMatchObject({ chains: new Map() });
  });
});

it('lists a table that changes meanwhile as such', async () => {
  const { place, transport, kernel } = await filled();
  const reading = transport.read('IPv4', [PORTS]);
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    kernel.transact(7, new ForeignBatch('ip', `other-${turn}`).addTable().end());
  }
  expect((await reading)!.sets.get('ports')!.elements.size).toBe(1000);
  place.kill();
  expect(place.sockets.countOf(place.process)).toBe(0);
  expect(kernel.view(FAMILY.IP, 'kube-proxy')!.sets.get('ports')!.elements.size).toBe(1000);
});
