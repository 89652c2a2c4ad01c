import fc from 'fast-check';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { TableChange } from '../../../src/domain/nftables/state/service-port-rules.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { serviceEntries } from '../../support/iptables/arbitraries.js';

const elementsOf = (entry: ForwardingEntry, former?: ForwardingEntry) =>
  compileNftables(entry, former && compileNftables(former)).flatMap(({ key, elements }) =>
    elements.map((element) => [key, element]),
  );

describe.each(['IPv4', 'IPv6'] as const)('rules of %s', (family) => {
  it('are the same, whatever they replace', () => {
    fc.assert(
      fc.property(serviceEntries(family, 'a'), serviceEntries(family, 'a'), ([before], [after]) => {
        fc.pre(before !== undefined && after !== undefined);
        expect(elementsOf(after!, before)).toEqual(elementsOf(after!));
      }),
    );
  });

  it('keep what service ports share as it is', () => {
    fc.assert(
      fc.property(serviceEntries(family, 'a'), ([entry]) => {
        fc.pre(entry !== undefined);
        const former = compileNftables(entry!);
        const shared = (parts: typeof former) => parts.filter(({ frontend }) => frontend === undefined);
        const rules = compileNftables({ ...entry! }, former);
        expect(shared(rules)).toEqual(shared(former));
        for (const part of shared(rules)) expect(former).toContain(part);
        const desired = new NftablesDesiredState();
        const change = new TableChange();
        desired.replace('a', former);
        desired.replace('a', rules, change);
        for (const { removed, added } of change.sets())
          expect([removed.elements, added.elements]).toEqual([[], []]);
      }),
    );
  });
});
