import type { ServicePortKey } from '../model/service-port-name.js';
import { subset } from '../model/subset.js';
import { Claims } from './claims.js';

/** A part of service port rules that one service port holds at a time. */
export interface Part {
  readonly key: string;
  /** The frontend, in the form that people use: `10.96.0.10:53/UDP`. Undefined for parts that are the same for every owner. */
  readonly frontend?: string | undefined;
  /** Of several that claim a part, the one with the lowest rank holds it, of one rank the first by key. Missing: 0. */
  readonly rank?: number | undefined;
}

/** A part and its owner. */
export interface OwnedPart<P extends Part> {
  readonly owner: ServicePortKey;
  readonly part: P;
}

/** Called for each part that was added or removed, or that got another owner or content: with the part before and after. */
export type Switch<P extends Part> = (
  before: OwnedPart<P> | undefined,
  after: OwnedPart<P> | undefined,
) => void;

/**
 * The rules of all service ports of a family, as parts, each owned by the first that claims it. For desired states in
 * which the service ports that lose a conflict get nothing.
 */
export class OwnedParts<P extends Part> {
  private readonly partsByOwner = new Map<ServicePortKey, readonly P[]>();
  private readonly claims = new Claims();

  constructor(private readonly same: (one: P, other: P) => boolean) {}

  /** Parts of the service port, held or not. */
  of(owner: ServicePortKey): readonly P[] | undefined {
    return this.partsByOwner.get(owner);
  }

  /** Undefined if no service port claims the part. */
  ownerOf(key: string): ServicePortKey | undefined {
    return this.claims.ownerOf(key);
  }

  /**
   * Replaces the owner's parts; undefined removes them. Cost depends only on these parts.
   * @param parts each key once
   */
  replace(owner: ServicePortKey, parts: readonly P[] | undefined, switched: Switch<P>): void {
    const present = this.partsByOwner.get(owner);
    if (parts) this.partsByOwner.set(owner, parts);
    else this.partsByOwner.delete(owner);
    if (!present) {
      for (const part of parts ?? []) this.claim({ owner, part }, switched);
      return;
    }
    const former = new Map(present.map((part) => [part.key, part]));
    for (const part of parts ?? []) {
      const previous = former.get(part.key);
      former.delete(part.key);
      if (previous?.rank !== part.rank || !previous) this.claim({ owner, part }, switched, previous);
      else if (!this.same(previous, part) && this.ownerOf(part.key) === owner)
        switched({ owner, part: previous }, { owner, part });
    }
    for (const part of former.values()) this.release({ owner, part }, switched);
  }

  /** All parts that pass, with their owners, in any order. */
  *held(passes: (part: P) => boolean = () => true): Generator<OwnedPart<P>> {
    for (const [owner, parts] of this.partsByOwner)
      for (const part of parts) if (passes(part) && this.holds(owner, part)) yield { owner, part };
  }

  /** The same for each owner that holds any. */
  *heldByOwner(): Generator<readonly P[]> {
    for (const [owner, parts] of this.partsByOwner) {
      const held = subset(parts, (part) => this.holds(owner, part));
      if (held.length > 0) yield held;
    }
  }

  /** The part of that key as its owner has it. */
  heldPart(key: string): P | undefined {
    return this.partOf(this.ownerOf(key), key)?.part;
  }

  /** Looks nothing up, and computes no key, where nothing is contested. */
  private holds(owner: ServicePortKey, part: P): boolean {
    return this.claims.allHold || this.ownerOf(part.key) === owner;
  }

  /** @param previous the part of that key that the owner had, which had another rank */
  private claim(claimed: OwnedPart<P>, switched: Switch<P>, previous?: P): void {
    const { owner, part } = claimed;
    const rankOf = (claimant: ServicePortKey) => String(this.partOf(claimant, part.key)?.part.rank ?? 0);
    const { before, after } = this.claims.claim(part.key, owner, part.frontend !== undefined, rankOf);
    if (before === after && after !== owner) return;
    const former = before === owner && previous ? { owner, part: previous } : this.partOf(before, part.key);
    switched(former, this.partOf(after, part.key));
  }

  private release(released: OwnedPart<P>, switched: Switch<P>): void {
    const { owner, part } = released;
    const { before, after } = this.claims.release(part.key, owner);
    if (before !== after) switched(released, this.partOf(after, part.key));
  }

  private partOf(owner: ServicePortKey | undefined, key: string): OwnedPart<P> | undefined {
    const part = owner === undefined ? undefined : this.of(owner)?.find((each) => each.key === key);
    return part && { owner: owner!, part };
  }
}
