import { effectiveWeightOf } from '../balancing/balancing.js';
import type { ForwardingEntry, Frontend } from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import { getOrMake } from '../model/maps.js';
import { mixed } from '../model/text.js';
import { LISTS, type EndpointNumbers } from './endpoint-numbers.js';

/** To be changed with everything that lets the same entry be compiled into other elements. */
const COMPILED_AS = 'elements 2';
/** The same of those that are not chosen at random with equal chances. */
const SLOTS_AS = 'slots 3';

/** The common prefix of the digests of all frontends of an entry, and of those of its load-balancer IPs. */
interface SharedDigests {
  readonly ofAll: number;
  /** Undefined where it has none. */
  readonly ofLoadBalancer: number | undefined;
}

/** Each is computed once: an entry may have 20,000 frontends, and each of them depends on the addresses of all. */
const shared = new WeakMap<ForwardingEntry | EndpointNumbers, SharedDigests>();

/**
 * A number that differs, in practice, whenever the elements of a frontend differ, its own and those that it shares: what its own
 * element carries, so that a later process can recognize the frontend's rules without reading or compiling them. It is made of all
 * that they are compiled from. It has 53 bits, as many as a number holds.
 */
export function digestOf(
  entry: ForwardingEntry,
  { kind, address, port, policy, outcome }: Frontend,
  numbers?: EndpointNumbers,
): number {
  const { ofAll, ofLoadBalancer } = getOrMake(shared, numbers ?? entry, () => sharedDigests(entry, numbers));
  const hash = new Hash();
  hash.addDigest(ofAll);
  for (const text of [kind, address ?? '', policy, outcome]) hash.add(text);
  hash.addNumber(port);
  if (kind === 'load-balancer-ip') hash.addDigest(ofLoadBalancer!);
  return hash.value;
}

function sharedDigests(entry: ForwardingEntry, numbers: EndpointNumbers | undefined): SharedDigests {
  const { name, frontends, endpoints, balancing, sourceRanges } = entry;
  const hash = new Hash();
  hash.add(COMPILED_AS);
  for (const text of [name.namespace, name.name, name.port, name.protocol]) hash.add(text);
  hash.addNumber(entry.affinitySeconds);
  hash.addNumber(endpoints.hasAny ? 1 : 0);
  for (const name of LISTS) hash.addEndpoints(endpoints[name] ?? [], numbers?.lists[name].order);
  hash.addEndpoints(endpoints.reachable.filter(({ isLocal }) => isLocal));
  hash.addList(frontends, (frontend) => (frontend.kind === 'cluster-ip' ? frontend.address! : ''));
  if (balancing) {
    hash.add(SLOTS_AS);
    hash.add(balancing.method);
    for (const list of LISTS) hash.add(balancing.tables?.[list] ?? '');
    hash.addWeights([...(endpoints.cluster ?? []), ...(endpoints.local ?? [])]);
  }
  const ofAll = hash.value;
  const loadBalancers = frontends.filter(({ kind }) => kind === 'load-balancer-ip');
  if (loadBalancers.length === 0) return { ofAll, ofLoadBalancer: undefined };
  const more = new Hash();
  more.addNumber(entry.sourceRangesCoverNode ? 1 : 0);
  more.addList(sourceRanges, (range) => `${range.address}/${range.prefixLength}`);
  more.addList(loadBalancers, ({ address }) => address!);
  return { ofAll, ofLoadBalancer: more.value };
}

const TWO_TO_32 = 2 ** 32;
const UPPER_BITS = 0x1fffff;

/** Two 32-bit hashes with different multipliers, which see every character and every end of a text. */
class Hash {
  private one = 0x811c9dc5;
  private other = 0x9747b28c;

  add(text: string): void {
    let { one, other } = this;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x5bd1e995);
      other ^= other >>> 15;
    }
    this.one = one;
    this.other = other;
    this.addNumber(0x10000 + text.length);
  }

  /** A number of 32 bits. */
  addNumber(number: number): void {
    this.one = Math.imul(this.one ^ number, 0x01000193);
    this.other = Math.imul(this.other ^ number, 0x5bd1e995);
    this.other ^= this.other >>> 15;
  }

  /** A digest, which has more bits than `addNumber` takes. */
  addDigest(digest: number): void {
    this.addNumber(digest % TWO_TO_32);
    this.addNumber(Math.floor(digest / TWO_TO_32));
  }

  addList<T>(list: readonly T[], textOf: (member: T) => string): void {
    for (const member of list) this.add(textOf(member));
    this.addNumber(list.length);
  }

  /** @param order of the first ones, if it is another than that of the list */
  addEndpoints(list: readonly Endpoint[], order: readonly Endpoint[] = []): void {
    for (let position = 0; position < list.length; position++) {
      const { address, port } = order[position] ?? list[position]!;
      this.add(address);
      this.addNumber(port);
    }
    this.addNumber(list.length);
  }

  addWeights(list: readonly Endpoint[]): void {
    for (const endpoint of list) this.addNumber(effectiveWeightOf(endpoint));
  }

  get value(): number {
    return (mixed(this.other) & UPPER_BITS) * TWO_TO_32 + mixed(this.one);
  }
}
