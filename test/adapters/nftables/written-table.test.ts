import fc from 'fast-check';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import type { Statement } from '../../../src/domain/nftables/layout/table.js';
import { renderTable } from '../../../src/adapters/nftables/render-text.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { serviceEntries } from '../../support/iptables/arbitraries.js';

function namesIn(statement: Statement): readonly string[] {
  if ('chain' in statement) return [statement.chain];
  if ('set' in statement) return [statement.set];
  if ('map' in statement) return [statement.map];
  const to = statement.kind === 'set-priority' ? statement.to : 'none';
  return to !== 'none' && 'map' in to ? [to.map] : [];
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
        const statements = chains.flatMap(({ rules }) => rules.flatMap((rule) => rule.statements));
        const values = sets.flatMap(({ elements }) => elements.map(({ value = '' }) => value));
        const behind = values.flatMap((value) => /^(?:goto|jump) (.+)$/.exec(value)?.[1] ?? []);
        expect([...statements.flatMap(namesIn), ...behind].filter((name) => !there.has(name))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  },
);
