import { weightOf } from '../balancing/balancing.js';
import type { ForwardingEntry, Frontend } from '../forwarding/forwarding-entry.js';
import type { Endpoint } from '../model/endpoint.js';
import { mixed } from '../model/text-hash.js';
import { LISTS } from './slots-part.js';

/** To be changed with everything that lets the same entry be compiled into other elements. */
const COMPILED_AS = 'elements 1';
/** The same of those that are not chosen at random with equal chances. */
const SLOTS_AS = 'slots 2';

/**
 * A number that differs, in practice, whenever the elements of a frontend differ, its own and those that it shares: what its own
 * element carries, so that a later process can tell the frontend's rules without reading or compiling them. It is made of all
 * that they are compiled from. It has 53 bits, as many as a number holds.
 */
export function digestOf(entry: ForwardingEntry, { kind, address, port, policy, outcome }: Frontend): number {
  const { name, frontends, endpoints, balancing } = entry;
  const hash = new Hash();
  hash.add(COMPILED_AS);
  for (const text of [name.namespace, name.name, name.port, name.protocol]) hash.add(text);
  for (const text of [kind, address ?? '', policy, outcome]) hash.add(text);
  hash.addNumber(port);
  hash.addNumber(entry.affinitySeconds);
  hash.addNumber(endpoints.hasAny ? 1 : 0);
  hash.addEndpoints(endpoints.cluster ?? []);
  hash.addEndpoints(endpoints.local ?? []);
  hash.addEndpoints(endpoints.reachable.filter(({ isLocal }) => isLocal));
  hash.addList(frontends, (other) => (other.kind === 'cluster-ip' ? other.address! : ''));
  if (balancing) {
    hash.add(SLOTS_AS);
    hash.add(balancing.method);
    for (const name of LISTS) hash.add(balancing.tables?.[name] ?? '');
    hash.addWeights([...(endpoints.cluster ?? []), ...(endpoints.local ?? [])]);
  }
  if (kind !== 'load-balancer-ip') return hash.value;
  hash.addNumber(entry.sourceRangesCoverNode ? 1 : 0);
  hash.addList(entry.sourceRanges, (range) => `${range.address}/${range.prefixLength}`);
  hash.addList(frontends, (other) => (other.kind === kind ? other.address! : ''));
  return hash.value;
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

  addList<T>(list: readonly T[], textOf: (member: T) => string): void {
    for (const member of list) this.add(textOf(member));
    this.addNumber(list.length);
  }

  addEndpoints(list: readonly Endpoint[]): void {
    for (const { address, port } of list) {
      this.add(address);
      this.addNumber(port);
    }
    this.addNumber(list.length);
  }

  addWeights(list: readonly Endpoint[]): void {
    for (const endpoint of list) this.addNumber(weightOf(endpoint));
  }

  get value(): number {
    return (mixed(this.other) & UPPER_BITS) * TWO_TO_32 + mixed(this.one);
  }
}
