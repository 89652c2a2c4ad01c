import type { Backend } from '../../application/ports/backend.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * A backend that is to be held against its contract, with what is needed to look at it. A place is what the backend
 * programs: a kernel, a file, a table in memory. What is optional adds cases; nothing is left out that a backend must hold.
 */
export interface BackendSubject<Place> {
  readonly family: IpFamily;

  /** A place of its own for each case. What is in it belongs to strangers, and must still be there after a clean-up. */
  makePlace(): Promise<Place> | Place;

  /** Called at the end of each case, also of one that failed. */
  removePlace?(place: Place): Promise<void> | void;

  /** A backend on the place, as a new process would make it. */
  open(place: Place): Promise<Backend> | Backend;

  /**
   * Everything that the place holds, in a form that can be compared: what means the same must be equal, so what has no
   * order is to be sorted, and what is chosen at random left out.
   */
  snapshot(place: Place): Promise<unknown> | unknown;

  /** False where what a former process left cannot be taken over, as sockets cannot. */
  readonly adopts?: boolean;

  /** False where it cannot be told what a former process left for which service, or where that leads nowhere. */
  readonly keepsUnexplained?: boolean;

  /** False where it does not matter that two service ports have the same address. */
  readonly tellsConflicts?: boolean;

  /** Changes or removes something that the backend has programmed, behind its back. */
  damage?(place: Place): Promise<void> | void;

  /** From now on the place takes nothing of this service port; undefined: it takes everything again. */
  refuse?(place: Place, key: ServicePortKey | undefined): Promise<void> | void;

  /** From now on the place takes nothing at all; undefined: it works again. */
  breakDown?(place: Place, error: Error | undefined): Promise<void> | void;
}

/** One thing that must hold. The list is for any test runner: `for (const { name, run } of cases) test(name, run)`. */
export interface ContractCase {
  readonly name: string;
  /** Rejects with an AssertionError when it does not hold. */
  run(): Promise<void>;
}
