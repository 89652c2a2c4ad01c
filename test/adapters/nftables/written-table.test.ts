import fc from 'fast-check';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import type { Expression } from '../../../src/domain/nftables/kernel/ruleset.js';
import { renderTable } from '../../../src/adapters/nftables/render-text.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { serviceEntries } from '../../support/iptables/arbitraries.js';

function namesIn(expression: Expression): readonly string[] {
  if ('set' in expression) return [expression.set];
  return expression.kind === 'verdict' ? [expression.verdict.chain ?? []].flat() : [];
}

it.each(IP_FAMILIES)(
  'the table can be written, and has every chain and set that its rules and elements lead to, %s',
  (family) => {
    fc.assert(
      fc.property(serviceEntries(family, 'a'), serviceEntries(family, 'b'), (one, other) => {
        const desired = new NftablesDesiredState();
        for (const entry of [...one, ...other]) desired.replace(entry.key, compileNftables(entry));
        const table = desiredTable(desired, sampleNode(family));
        expect(() => renderTable(family, table)).not.toThrow();
        const { chains, sets } = table;
        const there = new Set([...chains.map(({ chain }) => chain.name), ...sets.map(({ set }) => set.name)]);
        const expressions = chains.flatMap(({ rules }) => rules.flatMap((rule) => rule.expressions));
        const values = sets.flatMap(({ elements }) => elements.map(({ value = '' }) => value));
        const behind = values.flatMap((value) => /^(?:goto|jump) (.+)$/.exec(value)?.[1] ?? []);
        expect([...expressions.flatMap(namesIn), ...behind].filter((name) => !there.has(name))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  },
);
