import type { IptablesComposition, OwnedChain } from '../../domain/iptables/composition.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Preparation } from './preparation.js';
import type { Candidate, Candidates } from './candidates.js';

/**
 * Fills the composition at a first start: a service port is compiled when its chains are asked for, so that the tool reads
 * those of the first while the last are not compiled yet. The composition takes it in once all chains were asked for,
 * when the tool has enough to read.
 */
export class Intake {
  private readonly compiled = new Map<ServicePortKey, Candidate>();
  private isTakenIn = false;

  /**
   * @param composition an empty one
   * @param preparation has written chains of some
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

  /** The chains of all service ports: those of the composition, once it has taken them in. */
  *chains(): Generator<OwnedChain> {
    if (this.isTakenIn) return yield* this.composition.chains();
    for (const [owner, { wanted }] of this.all()) {
      if (!wanted) continue;
      const chains = this.preparation?.takeChains(owner, wanted) ?? wanted.chains;
      for (const chain of chains) yield { chain, owner };
    }
    this.takeIn();
  }

  /** Has the composition take in what is left. */
  finish(): void {
    for (const _ of this.all());
    this.takeIn();
  }

  /** What is compiled, and what is still to be. */
  private *all(): Generator<readonly [ServicePortKey, Candidate]> {
    yield* this.compiled;
    for (let next = this.coming.next(); next.done !== true; next = this.coming.next()) {
      const [owner, candidate] = next.value;
      this.compiled.set(owner, candidate);
      yield next.value;
    }
  }

  private takeIn(): void {
    if (this.isTakenIn) return;
    for (const [owner, { wanted }] of this.compiled) this.composition.replace(owner, wanted);
    this.isTakenIn = true;
  }
}
