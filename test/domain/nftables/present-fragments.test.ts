import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { TableComposition } from '../../../src/domain/nftables/composition.js';
import type { Fragment } from '../../../src/domain/nftables/fragment.js';
import { PresentFragments } from '../../../src/domain/nftables/present-fragments.js';
import { contentsOf, type TableContents } from '../../../src/domain/nftables/table-contents.js';
import { tableImage } from '../../../src/domain/nftables/table-image.js';
import { serviceEntries } from '../../support/iptables/arbitraries.js';

function hasEachFrontendOnce({ frontends }: ForwardingEntry): boolean {
  return new Set(frontends.map(({ address, port }) => `${address} ${port}`)).size === frontends.length;
}

describe.each(IP_FAMILIES)('fragments that are read back (%s)', (family) => {
  const node: NodeNetwork = {
    family,
    detector: undefined,
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    serviceCIDRs: [],
  };

  function composed(fragments: ReadonlyMap<string, Fragment>): TableComposition {
    const composition = new TableComposition();
    for (const [key, fragment] of fragments) composition.replace(key, fragment);
    return composition;
  }
  const tableOf = (composition: TableComposition): TableContents => {
    const { chains, sets } = contentsOf(tableImage(composition, node));
    return { chains: new Map([...chains].sort()), sets };
  };

  it('make the table that they were read from', () => {
    fc.assert(
      fc.property(serviceEntries(family, 'a'), serviceEntries(family, 'b'), (one, other) => {
        const entries: readonly ForwardingEntry[] = [...one, ...other];
        const composition = composed(new Map(entries.map((entry) => [entry.key, compileNftables(entry)])));
        // What lost its frontend, to another service or to the same, has nothing there to be read.
        fc.pre(entries.every(({ key }) => composition.conflictsOf(key).length === 0));
        fc.pre(entries.every(hasEachFrontendOnce));
        const table = tableOf(composition);
        const present = new PresentFragments(table.sets);
        const read = entries.flatMap(({ key, name }) => {
          const fragment = present.fragment(name, (part) => composition.holder(part) !== key);
          return fragment ? [[key, fragment] as const] : [];
        });
        expect(tableOf(composed(new Map(read)))).toEqual(table);
      }),
      { numRuns: 60 },
    );
  });

  it('go without the frontends that are taken', () => {
    const entry = fc.sample(
      serviceEntries(family, 'a').map(([first]) => first!),
      { numRuns: 1, seed: 7 },
    )[0]!;
    const present = new PresentFragments(tableOf(composed(new Map([['a', compileNftables(entry)]]))).sets);
    expect(present.fragment(entry.name, () => false)).toBeDefined();
    expect(present.fragment(entry.name, () => true)).toBeUndefined();
  });

  it('are those of nobody in a table of another layout', () => {
    const none = new PresentFragments(new Map());
    const name = { namespace: 'default', name: 'a', port: 'http', protocol: 'TCP' } as const;
    expect(none.fragment(name, () => false)).toBeUndefined();
  });
});
