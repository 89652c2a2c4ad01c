import { readFileSync } from 'node:fs';
import { IP_FAMILIES } from '../../../src/domain/net/ip-family.js';
import { renderDeclaration, setKeyword } from '../../../src/adapters/nftables/render-text.js';
import { POSSIBLE_SETS } from '../../../src/domain/nftables/layout/sets.js';
import { nftFamily } from '../../../src/domain/nftables/layout/table.js';

describe.each(IP_FAMILIES)("over our table, kube-proxy's first transaction (%s)", (family) => {
  const file = `../../conformance/rollback/kube-proxy-start-${nftFamily(family)}.nft`;
  const theirs = readFileSync(new URL(file, import.meta.url), 'utf8');

  it('finds no set or map of another type under a name that it uses', () => {
    const declared: (readonly [name: string | undefined, declaration: string])[] = [
      ...theirs.matchAll(/^add (set|map) \S+ kube-proxy (\S+) \{ (type [^;]*) ;/gm),
    ].map(([, keyword, name, type]) => [name, `${keyword} ${type}`] as const);
    expect(declared.length).toBeGreaterThan(7);
    const ours = new Map(
      POSSIBLE_SETS.map((set) => {
        const lines = renderDeclaration(family, { ...set, comment: undefined });
        return [set.name, `${setKeyword(set)} ${lines.join(' ; ')}`];
      }),
    );
    // kube-proxy 1.37, with node ports on loopback addresses rejected (docs/internals/spec/changes-1.37.md §4.2).
    declared.push(['localhost-nodeport-reject-ports', 'map type inet_proto . inet_service : verdict']);
    for (const [name, declaration] of declared)
      if (ours.has(name!)) expect([name, ours.get(name!)]).toEqual([name, declaration]);
  });

  it('finds none that it would take for a leftover of its own', () => {
    expect(POSSIBLE_SETS.map(({ name }) => name).filter((name) => name.startsWith('affinity-'))).toEqual([]);
  });
});
