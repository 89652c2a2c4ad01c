import { LISTED_SETS, LOOKED_UP_SETS, POSSIBLE_SETS } from '../../../../src/domain/nftables/layout/sets.js';
import { MAP_OF_ANOTHER_LAYOUT } from '../../../../src/domain/nftables/layout/kube-proxy-maps.js';

it('that grow with the endpoints are looked up, and the others listed', () => {
  const listed = LISTED_SETS.map(({ name }) => name);
  expect(listed).toEqual(expect.arrayContaining(['frontends', 'nodeport-frontends', 'no-endpoints']));
  for (const { name } of LOOKED_UP_SETS) expect(listed).not.toContain(name);
  expect(new Set([...LISTED_SETS, ...LOOKED_UP_SETS])).toEqual(new Set(POSSIBLE_SETS));
});

it('tell a table of kube-proxy from one of ours (docs/internals/spec/nftables.md §3.1)', () => {
  expect(MAP_OF_ANOTHER_LAYOUT).toBe('service-ips');
  expect(POSSIBLE_SETS.map(({ name }) => name)).not.toContain(MAP_OF_ANOTHER_LAYOUT);
});

it('have comments that are not empty, and no two have one name', () => {
  for (const { comment } of POSSIBLE_SETS) if (comment !== undefined) expect(comment).toMatch(/^[\w ]{8,}/);
  expect(new Set(POSSIBLE_SETS.map(({ name }) => name)).size).toBe(POSSIBLE_SETS.length);
});
