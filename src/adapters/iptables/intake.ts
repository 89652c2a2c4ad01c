import type { IptablesComposition, OwnedChain } from '../../domain/iptables/composition.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { JoinedChains } from '../../domain/iptables/joined-chains.js';
import type { Preparation } from './preparation.js';
import type { Candidate, Candidates } from './candidates.js';

/**
 * Fills the composition at a first start: a service port is compiled when its chains are asked for, so that the tool reads
 * those of the first while the last are not compiled yet.
 */
export class Intake {
  private readonly compiled = new Map<ServicePortKey, Candidate>();

  /**
   * @param composition an empty one, or that of the preparation
   * @param preparation has joined the chains of some
   */
  constructor(
    private readonly coming: Iterator<readonly [ServicePortKey, Candidate]>,
    private readonly composition: IptablesComposition,
    private readonly preparation?: Preparation,
  ) {}

  /** The service ports compiled so far. */
  get candidates(): Candidates {
    return this.compiled;
  }

  /** The chains of all service ports, in the same order each time. Those that are joined come once all their owners have come. */
  *chains(): Generator<OwnedChain | JoinedChains> {
    const incomplete = new Map<JoinedChains, ServicePortKey[]>();
    for (const [owner, { wanted }] of this.all()) {
      if (!wanted) continue;
      const joined = this.preparation?.joined(owner, wanted);
      if (!joined) {
        for (const chain of wanted.chains) yield { chain, owner };
        continue;
      }
      const owners = incomplete.get(joined) ?? [];
      owners.push(owner);
      incomplete.set(joined, owners);
      if (owners.length < joined.ownerCount) continue;
      incomplete.delete(joined);
      yield joined;
    }
    for (const [joined, owners] of incomplete) for (const owner of owners) yield* joined.chainsOf(owner);
  }

  /** Has the composition take in what is left. */
  finish(): void {
    for (const _ of this.all());
  }

  /** What is compiled, and what is still to be. */
  private *all(): Generator<readonly [ServicePortKey, Candidate]> {
    yield* this.compiled;
    for (let next = this.coming.next(); next.done !== true; next = this.coming.next()) {
      const [owner, candidate] = next.value;
      this.compiled.set(owner, candidate);
      const { wanted } = candidate;
      if (this.composition.fragment(owner) !== wanted) this.composition.replace(owner, wanted);
      yield next.value;
    }
    for (const owner of this.composition.owners)
      if (!this.compiled.has(owner)) this.composition.replace(owner, undefined);
  }
}
