import { iptablesBaseRules } from '../../../src/domain/iptables/base-rules.js';
import { compileIptables } from '../../../src/domain/iptables/compile.js';
import { IptablesAdoptedRules } from '../../../src/domain/iptables/adopted-rules.js';
import { IptablesDesiredState, DesiredTables } from '../../../src/domain/iptables/desired-state.js';
import type { SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import { servicePortKey } from '../../../src/domain/model/service-port-name.js';
import { sampleEntry, sampleNode } from '../../../src/testing/contract/sample-services.js';
import { allChains } from '../../support/iptables/tables-in-memory.js';
import { RECORDED_HOST } from '../../support/recorded/cluster.js';

const node = sampleNode('IPv4');
const base = iptablesBaseRules(node, RECORDED_HOST);
const entry = sampleEntry('IPv4', 'a', { number: 1, nodePort: 30_080 });
const rules = compileIptables(entry, { node, host: RECORDED_HOST, largeCluster: false });
const other = servicePortKey({ ...entry.name, name: 'b' });

function stateOf(claimants: readonly string[]): IptablesDesiredState {
  const desired = new IptablesDesiredState();
  for (const claimant of claimants) desired.replace(claimant as typeof other, rules);
  return desired;
}

/** What an earlier process has written of the service port. */
const saved: SavedTables = (['mangle', 'filter', 'nat'] as const).map((name) => ({
  name,
  chains: allChains(new DesiredTables(stateOf([entry.key]), base))
    .filter(({ table }) => table === name)
    .map((chain) => ({ name: chain.name, policy: undefined, rules: chain.rules })),
}));

function entriesFor(owner: typeof other, claimants: readonly string[]): readonly string[] | undefined {
  const of = new IptablesAdoptedRules(saved, base, stateOf(claimants));
  return of.rules(of.labelsOf(entry.name), owner)?.entries.map(({ rule }) => rule);
}
const all = rules.entries.map(({ rule }) => rule);

it('what the tables have of a frontend nobody claims is for who is named in it', () => {
  expect(entriesFor(entry.key, [])?.toSorted()).toEqual(all.toSorted());
});

it('what the tables have of a frontend stays with all that claim it', () => {
  expect(entriesFor(entry.key, [entry.key, other])?.toSorted()).toEqual(all.toSorted());
  expect(entriesFor(other, [entry.key, other])?.toSorted()).toEqual(all.toSorted());
});

it('what the tables have of a frontend is not for who does not claim it', () => {
  expect(entriesFor(entry.key, [other])).toBeUndefined();
});

it('what the tables have of a port that has another name by now is found by its frontends, in its own Service only', () => {
  const read = (name: typeof entry.name) => {
    const of = new IptablesAdoptedRules(saved, base, stateOf([]));
    return of.rules(of.labelsOf(name, rules), servicePortKey(name))?.entries.map(({ rule }) => rule);
  };
  const renamed = { ...entry.name, port: 'renamed' };
  expect(read(renamed)?.toSorted()).toEqual(all.toSorted());
  expect(read({ ...renamed, name: 'b' })).toBeUndefined();
});
