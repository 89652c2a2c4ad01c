import fc from 'fast-check';
import { JoinedChains } from '../../../src/domain/iptables/joined-chains.js';
import type { IptablesFragment } from '../../../src/domain/iptables/table.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';

const rule = fc.oneof(
  fc.constant(''),
  fc.string({ unit: 'grapheme-ascii', minLength: 1 }).filter((text) => !text.includes('\n')),
);
const name = fc.stringMatching(/^KUBE-SEP-[A-Z2-7]{4}$/);
/** Chains of several service ports: no name occurs twice. */
const owned = fc.uniqueArray(fc.record({ name, rules: fc.array(rule), owner: fc.nat(5) }), {
  selector: (chain) => chain.name,
});

function keyOf(owner: number): ServicePortKey {
  return `ns/s${owner}/tcp/` as ServicePortKey;
}

function fragmentOf(
  all: readonly { name: string; rules: readonly string[]; owner: number }[],
  owner: number,
) {
  const chains = all
    .filter((chain) => chain.owner === owner)
    .map(({ name, rules }) => ({ table: 'nat' as const, name, rules }));
  return { chains, entries: [] } satisfies IptablesFragment;
}

describe('JoinedChains', () => {
  it('declares all chains and appends every rule, the last chain by name first, and knows how many', () => {
    fc.assert(
      fc.property(owned, (all) => {
        const joined = new JoinedChains();
        for (let owner = 0; owner <= 5; owner++) joined.add(keyOf(owner), fragmentOf(all, owner));
        const ordered = all.toSorted((one, other) => (one.name < other.name ? 1 : -1));
        const lines = [
          ...ordered.map((chain) => `:${chain.name} - [0:0]`),
          ...ordered.flatMap((chain) =>
            chain.rules.map((each) => (each === '' ? `-A ${chain.name}` : `-A ${chain.name} ${each}`)),
          ),
        ];
        expect([joined.ownerCount, joined.size]).toEqual([6, all.length]);
        expect(joined.rules).toBe(lines.length - all.length);
        expect(joined.takeText()).toBe(lines.join('\n'));
        expect(joined.chains.map(({ chain, owner }) => [chain.name, owner])).toEqual(
          ordered.map((chain) => [chain.name, keyOf(chain.owner)]),
        );
      }),
    );
  });

  it('gives its text away once, and its chains always', () => {
    const joined = new JoinedChains();
    const chain = { table: 'nat', name: 'KUBE-SEP-A', rules: ['-j RETURN'] } as const;
    joined.add(keyOf(1), { chains: [chain], entries: [] });
    joined.join();
    expect(joined.takeText()).toBe(':KUBE-SEP-A - [0:0]\n-A KUBE-SEP-A -j RETURN');
    expect(joined.takeText()).toBeUndefined();
    expect(joined.chains).toEqual([{ chain, owner: keyOf(1) }]);
    expect(joined.chainsOf(keyOf(1))).toEqual([{ chain, owner: keyOf(1) }]);
    expect(joined.chainsOf(keyOf(2))).toEqual([]);
  });

  it('takes nothing more once it is joined', () => {
    const joined = new JoinedChains();
    joined.join();
    expect(() => joined.add(keyOf(1), { chains: [], entries: [] })).toThrow('joined');
    expect(joined.takeText()).toBe('');
  });
});
