import type { IptablesComposition, OwnedChain } from '../../domain/iptables/composition.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Candidate, Candidates } from './candidates.js';

/**
 * Fills the composition at a first start: a service port is compiled and taken in when its chains are asked for, so that
 * the tool reads those of the first while the last are not compiled yet.
 */
export class Intake {
  private readonly taken = new Map<ServicePortKey, Candidate>();

  constructor(
    private readonly compiled: Iterator<readonly [ServicePortKey, Candidate]>,
    private readonly composition: IptablesComposition,
  ) {}

  /** The service ports taken in so far. */
  get candidates(): Candidates {
    return this.taken;
  }

  /** The chains of all service ports: those of the composition, and of what is still to be taken in. */
  *chains(): Generator<OwnedChain> {
    yield* this.composition.chains();
    for (let owner = this.take(); owner !== undefined; owner = this.take())
      for (const chain of this.composition.fragment(owner)?.chains ?? []) yield { chain, owner };
  }

  /** Takes in what is left. */
  finish(): void {
    while (this.take() !== undefined);
  }

  private take(): ServicePortKey | undefined {
    const next = this.compiled.next();
    if (next.done === true) return undefined;
    const [key, candidate] = next.value;
    this.taken.set(key, candidate);
    this.composition.replace(key, candidate.wanted);
    return key;
  }
}
