import fc from 'fast-check';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import { sortedOnce, type Endpoint } from '../../../src/domain/model/endpoint.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { BY_ADDRESS, setsOf } from '../../../src/domain/nftables/layout/sets.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { TableChange } from '../../../src/domain/nftables/state/service-port-rules.js';
import { sampleEntry } from '../../../src/testing/contract/sample-services.js';

const MOST = 600;
const sets = setsOf(BY_ADDRESS);
const [whole, sticky, weighted] = [
  {},
  { affinitySeconds: 60 },
  { weights: Array.from({ length: MOST }, (_, index) => 1 + (index % 3)) },
].map((shape) => {
  const entry = sampleEntry('IPv4', 'web', { number: 1, endpoints: MOST, ...shape });
  return having(entry, sortedOnce(entry.endpoints.cluster!));
}) as [ForwardingEntry, ForwardingEntry, ForwardingEntry];

/** The entry with these of its endpoints. */
function having(entry: ForwardingEntry, endpoints: readonly Endpoint[]): ForwardingEntry {
  return { ...entry, endpoints: { ...entry.endpoints, cluster: endpoints, reachable: endpoints } };
}

/** The service port as the entries have it, one after the other. */
class ServicePort {
  readonly desired = new NftablesDesiredState();

  /** How many elements the change removes and adds. */
  become(entry: ForwardingEntry): number {
    const change = new TableChange();
    this.desired.replace(entry.key, compileNftables(entry, this.desired.rules(entry.key)), change);
    return [...change.sets()].reduce(
      (sum, { removed, added, unused }) =>
        sum + removed.elements.length + added.elements.length + unused.elements.length,
      0,
    );
  }

  /** The values of a map, by key. */
  valuesIn(map: { readonly name: string }): ReadonlyMap<string, string> {
    const values = new Map<string, string>();
    this.desired.forEachElement(({ set, key, value }) => {
      if (set.name === map.name) values.set(key, value!);
    });
    return values;
  }

  digests(): readonly unknown[] {
    const digests: unknown[] = [];
    this.desired.forEachElement(({ digest }) => digest !== undefined && digests.push(digest));
    return digests;
  }
}

/** What some lists lack of 600 endpoints: a stretch and single ones, fewer than 88. */
const gaps = fc.array(
  fc.record({
    from: fc.nat(MOST),
    count: fc.nat(40),
    some: fc.uniqueArray(fc.nat(MOST - 1), { maxLength: 40 }),
  }),
  { minLength: 1, maxLength: 4 },
);

function without({ from, count, some }: { from: number; count: number; some: readonly number[] }) {
  return (_: unknown, index: number): boolean =>
    !some.includes(index) && !(index >= from && index < from + count);
}

const addressValue = ({ address, port }: Endpoint): string => `${address} . ${port}`;

describe('a service port with a long list of endpoints', () => {
  it('has each endpoint at one number, and changes at most four elements for each that came or went', () => {
    fc.assert(
      fc.property(gaps, (versions) => {
        const port = new ServicePort();
        port.become(whole);
        let former = whole.endpoints.cluster!;
        for (const gap of versions) {
          const list = whole.endpoints.cluster!.filter(without(gap));
          const others = [
            former.filter((one) => !list.includes(one)),
            list.filter((one) => !former.includes(one)),
          ];
          const changed = port.become(having(whole, list));
          // Of each the number, that of the one that takes its place, and its hairpin; the class of the frontend before and after.
          expect(changed).toBeLessThanOrEqual(4 * others.flat().length + 2);
          const numbered = port.valuesIn(sets.endpoints);
          expect([...numbered.values()].sort()).toEqual(list.map(addressValue).sort());
          const numbers = [...numbered.keys()].sort();
          const anew = new ServicePort();
          anew.become(having(whole, list));
          expect(numbers).toEqual([...anew.valuesIn(sets.endpoints).keys()].sort());
          former = list;
        }
      }),
      { numRuns: 20 },
    );
  });

  it('with session affinity: every number leads to an id of an endpoint, and these are the same whatever was before', () => {
    fc.assert(
      fc.property(gaps, (versions) => {
        const port = new ServicePort();
        port.become(sticky);
        for (const gap of versions) {
          const list = sticky.endpoints.cluster!.filter(without(gap));
          port.become(having(sticky, list));
          const anew = new ServicePort();
          anew.become(having(sticky, list));
          expect(port.valuesIn(sets.affinityEndpoints)).toEqual(anew.valuesIn(sets.affinityEndpoints));
          const ids = port.valuesIn(sets.affinityIds);
          expect([...ids.keys()].sort()).toEqual([...anew.valuesIn(sets.affinityIds).keys()].sort());
          expect(new Set(ids.values())).toEqual(new Set(anew.valuesIn(sets.affinityIds).values()));
          expect(new Set(ids.values()).size).toBe(list.length);
        }
      }),
      { numRuns: 20 },
    );
  });

  it('with slots: is what it would be if it were made anew', () => {
    fc.assert(
      fc.property(gaps, (versions) => {
        const port = new ServicePort();
        port.become(weighted);
        for (const gap of versions) {
          const entry = having(weighted, weighted.endpoints.cluster!.filter(without(gap)));
          port.become(entry);
          const anew = new ServicePort();
          anew.become(entry);
          expect(port.valuesIn(sets.endpoints)).toEqual(anew.valuesIn(sets.endpoints));
          expect(port.digests()).toEqual(anew.digests());
        }
      }),
      { numRuns: 5 },
    );
  });

  it('has another digest than in the order of the list, as a later process numbers it so', () => {
    const [port, anew] = [new ServicePort(), new ServicePort()];
    const list = whole.endpoints.cluster!;
    port.become(whole);
    port.become(having(whole, list.slice(0, -1)));
    anew.become(having(whole, list.slice(0, -1)));
    // The last one is gone: no other number has changed.
    expect(port.digests()).toEqual(anew.digests());
    port.become(having(whole, list.slice(1, -1)));
    const later = new ServicePort();
    later.become(having(whole, list.slice(1, -1)));
    expect(port.digests()).not.toEqual(later.digests());
  });
});
