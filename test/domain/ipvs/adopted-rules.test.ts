import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { IpvsAdoptedRules, type PresentState } from '../../../src/domain/ipvs/adopted-rules.js';
import { compileIpvs } from '../../../src/domain/ipvs/compile.js';
import { IpvsDesiredState } from '../../../src/domain/ipvs/desired-state.js';
import type { IpvsServicePortRules } from '../../../src/domain/ipvs/service-port-rules.js';
import { servicePortKey } from '../../../src/domain/model/service-port-name.js';
import { sampleNode } from '../../../src/testing/contract/sample-services.js';
import { serviceEntries } from '../../support/iptables/arbitraries.js';

const node = sampleNode('IPv4', {
  detector: undefined,
  nodePortIPs: 'all',
  nodeAddresses: ['192.0.2.1'],
});

const [first] = fc.sample(
  serviceEntries('IPv4', 'a').map((entries): ForwardingEntry => entries[0]!),
  { numRuns: 1, seed: 7 },
);
const second = servicePortKey({ ...first!.name, name: 'b' });
const rules = compileIpvs(first!, { node, scheduler: 'rr', hasScheduler: () => true });

/** What the kernel has once these were written. */
function written(parts: IpvsServicePortRules): PresentState {
  return {
    servers: parts.flatMap(({ served }) => served ?? []),
    addresses: new Set(parts.flatMap(({ bound }) => bound ?? [])),
    members: new Set(parts.flatMap(({ members }) => members)),
    rules: [],
  };
}

function adopted(claimants: readonly string[]): IpvsAdoptedRules {
  const desired = new IpvsDesiredState();
  for (const claimant of claimants) desired.replace(claimant as typeof second, rules);
  return new IpvsAdoptedRules(written(rules), desired);
}

const keysFor = (of: IpvsAdoptedRules, owner: typeof second) =>
  of.rules(of.labelsOf(first!.name, rules)!, owner)?.map(({ key }) => key);
const all = rules.map(({ key }) => key);

it('What the kernel has is read as it was compiled, and nothing besides', () => {
  const plain = (parts: IpvsServicePortRules) =>
    parts.map(({ key, served, bound, members }) => ({ key, served, bound, members: [...members].sort() }));
  const of = adopted([]);
  expect(plain(of.rules(all, first!.key)!)).toEqual(plain(rules));
  expect([...of.labels()].sort()).toEqual([...all].sort());
});

it('What the kernel has of a frontend stays with all that claim it, whoever holds it', () => {
  expect(all).not.toEqual([]);
  const contested = adopted([first!.key, second]);
  expect(keysFor(contested, first!.key)).toEqual(all);
  expect(keysFor(contested, second)).toEqual(all);
});

it('What the kernel has of a frontend is not for who does not claim it', () => {
  const held = adopted([first!.key]);
  expect(keysFor(held, first!.key)).toEqual(all);
  expect(keysFor(held, second)).toBeUndefined();
});
