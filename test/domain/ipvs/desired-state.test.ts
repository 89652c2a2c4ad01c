import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { compileIpvs } from '../../../src/domain/ipvs/compile.js';
import { IpvsDesiredState, IpvsChange, ipvsDesiredTables } from '../../../src/domain/ipvs/desired-state.js';
import type { ServedAddress } from '../../../src/domain/ipvs/service-port-rules.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { follow, inTwoOrders, serviceChange } from '../../support/iptables/arbitraries.js';
import { entryOf } from '../../support/traffic/flows.js';
import { RECORDED_HOST } from '../../support/recorded/cluster.js';
import { allChains } from '../../support/iptables/tables-in-memory.js';

const NAMES = ['a', 'b', 'c'];

function nodeOf(family: IpFamily): NodeNetwork {
  return {
    family,
    detector: undefined,
    masqueradeBit: 14,
    masqueradeAll: false,
    nodePortIPs: 'all',
    // One of them is an address that services have, too.
    nodeAddresses: family === 'IPv4' ? ['10.0.0.2', '192.0.2.1'] : ['2001:db8::1', 'fd00::2'],
    serviceCIDRs: [],
  };
}

const compiled = (entry: ForwardingEntry) =>
  compileIpvs(entry, { node: nodeOf(entry.family), scheduler: 'rr', hasScheduler: () => true });

function desiredStateOf(entries: Iterable<ForwardingEntry>): IpvsDesiredState {
  const desired = new IpvsDesiredState();
  for (const entry of entries) desired.replace(entry.key, compiled(entry));
  return desired;
}

/** The desired tables with their chains made, so that two can be compared. */
function written(desired: IpvsDesiredState, family: IpFamily): object {
  const { rules, ...others } = ipvsDesiredTables(desired, nodeOf(family), RECORDED_HOST);
  return { ...others, chains: allChains(rules), jumps: rules.baseRules.jumps };
}

/** Knows what it was told to look at, and nothing else. */
class Follower {
  readonly servers = new Map<string, ServedAddress>();
  readonly addresses = new Set<string>();
  readonly members = new Set<string>();
  readonly rules = new Map<string, readonly string[]>();

  follow(desired: IpvsDesiredState, change: IpvsChange): void {
    for (const key of change.servers) {
      const served = desired.server(key);
      if (served) this.servers.set(key, { server: served.server, endpoints: served.endpoints });
      else this.servers.delete(key);
    }
    for (const address of change.addresses) note(this.addresses, address, desired.owners(address).length > 0);
    for (const member of change.members) note(this.members, member, desired.owners(member).length > 0);
    for (const owner of change.rules) {
      const rules = desired.iptablesRules(owner);
      if (rules) this.rules.set(owner, rules.entries.map(({ rule }) => rule).sort());
      else this.rules.delete(owner);
    }
  }
}

function note(present: Set<string>, what: string, wanted: boolean): void {
  if (wanted) present.add(what);
  else present.delete(what);
}

/** All that is desired, in the form of a follower. */
function everything(desired: IpvsDesiredState): Follower {
  const follower = new Follower();
  const change = new IpvsChange();
  for (const key of desired.serverKeys()) change.servers.add(key);
  for (const owner of desired.ownersOfIptablesRules()) change.rules.add(owner);
  for (const address of desired.addresses()) change.addresses.add(address);
  for (const member of desired.members()) change.members.add(member);
  follower.follow(desired, change);
  return follower;
}

describe('incremental equals full', () => {
  it.each(IP_FAMILIES)('after any sequence of batches of changes, in %s', (family) => {
    const batches = fc.array(fc.array(serviceChange(family, NAMES), { maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(batches, (sequence) => {
        const desired = new IpvsDesiredState();
        const follower = new Follower();
        const present = new Map<string, ForwardingEntry>();
        for (const batch of sequence) {
          const change = new IpvsChange();
          for (const each of batch)
            for (const { key, entry } of follow(each, present))
              desired.replace(key, entry && compiled(entry), change);
          follower.follow(desired, change);
          const fresh = desiredStateOf(present.values());
          expect(written(desired, family)).toEqual(written(fresh, family));
          expect(follower).toEqual(everything(fresh));
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each(IP_FAMILIES)('whatever order service ports come in, in %s', (family) => {
    fc.assert(
      fc.property(inTwoOrders(family, NAMES), ({ entries, shuffled }) => {
        expect(written(desiredStateOf(shuffled), family)).toEqual(written(desiredStateOf(entries), family));
      }),
      { numRuns: 40 },
    );
  });
});

it('a change names the service port of each of its parts, also of those that go', () => {
  const entry = entryOf();
  const desired = new IpvsDesiredState();
  const ownersIn = (rules: ReturnType<typeof compiled> | undefined) => {
    const change = desired.newChange();
    desired.replace(entry.key, rules, change);
    const parts: readonly string[] = [...change.servers, ...change.addresses, ...change.members];
    return parts.map((part) => change.owners.get(part));
  };
  const [came, went] = [ownersIn(compiled(entry)), ownersIn(undefined)];
  expect(came.length).toBeGreaterThan(2);
  expect(new Set(came)).toEqual(new Set([entry.key]));
  expect(went).toEqual(came);
});
