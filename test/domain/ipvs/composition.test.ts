import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import { compileIpvs } from '../../../src/domain/ipvs/compile.js';
import { IpvsComposition } from '../../../src/domain/ipvs/composition.js';
import type { ServedAddress } from '../../../src/domain/ipvs/fragment.js';
import { ipvsImage } from '../../../src/domain/ipvs/image.js';
import { SERVICE_SETS } from '../../../src/domain/ipvs/service-sets.js';
import { TouchedState } from '../../../src/domain/ipvs/touched-state.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { follow, inTwoOrders, serviceChange } from '../../support/iptables/arbitraries.js';
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

function compositionOf(entries: Iterable<ForwardingEntry>): IpvsComposition {
  const composition = new IpvsComposition();
  for (const entry of entries) composition.replace(entry.key, compiled(entry));
  return composition;
}

/** The image with its chains made, so that two can be compared. */
function image(composition: IpvsComposition, family: IpFamily): object {
  const { rules, ...others } = ipvsImage(composition, nodeOf(family), RECORDED_HOST);
  return { ...others, chains: allChains(rules), jumps: rules.frame.jumps };
}

/** Knows what it was told to look at, and nothing else. */
class Follower {
  readonly servers = new Map<string, ServedAddress>();
  readonly addresses = new Set<string>();
  readonly members = new Set<string>();
  readonly rules = new Map<string, readonly string[]>();

  follow(composition: IpvsComposition, touched: TouchedState): void {
    for (const key of touched.servers) {
      const served = composition.server(key);
      if (served) this.servers.set(key, { server: served.server, endpoints: served.endpoints });
      else this.servers.delete(key);
    }
    for (const address of touched.addresses)
      note(this.addresses, address, composition.askersOfAddress(address).length > 0);
    for (const [set, members] of touched.members)
      for (const member of members)
        note(this.members, `${set} ${member}`, composition.askersOfMember({ set, member }).length > 0);
    for (const owner of touched.rules) {
      const { entries = [] } = composition.rulesOf(owner) ?? {};
      if (entries.length > 0) this.rules.set(owner, entries.map(({ rule }) => rule).sort());
      else this.rules.delete(owner);
    }
  }
}

function note(present: Set<string>, what: string, wanted: boolean): void {
  if (wanted) present.add(what);
  else present.delete(what);
}

/** All that a composition wants, in the form of a follower. */
function everything(composition: IpvsComposition): Follower {
  const follower = new Follower();
  const touched = new TouchedState();
  for (const [key, { owner }] of composition.allServers()) {
    touched.servers.add(key);
    touched.rules.add(owner);
  }
  for (const address of composition.addresses()) touched.addresses.add(address);
  for (const set of SERVICE_SETS)
    for (const member of composition.membersOf(set)) touched.member(set, member);
  follower.follow(composition, touched);
  return follower;
}

describe('incremental equals full', () => {
  it.each(IP_FAMILIES)('after any sequence of batches of changes, in %s', (family) => {
    const batches = fc.array(fc.array(serviceChange(family, NAMES), { maxLength: 3 }), { maxLength: 6 });
    fc.assert(
      fc.property(batches, (sequence) => {
        const composition = new IpvsComposition();
        const follower = new Follower();
        const present = new Map<string, ForwardingEntry>();
        for (const batch of sequence) {
          const touched = new TouchedState();
          for (const change of batch)
            for (const { key, entry } of follow(change, present))
              composition.replace(key, entry && compiled(entry), touched);
          follower.follow(composition, touched);
          const fresh = compositionOf(present.values());
          expect(image(composition, family)).toEqual(image(fresh, family));
          expect(follower).toEqual(everything(fresh));
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each(IP_FAMILIES)('whatever order service ports come in, in %s', (family) => {
    fc.assert(
      fc.property(inTwoOrders(family, NAMES), ({ entries, shuffled }) => {
        expect(image(compositionOf(shuffled), family)).toEqual(image(compositionOf(entries), family));
      }),
    );
  });
});
