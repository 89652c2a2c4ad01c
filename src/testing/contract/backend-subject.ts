import type { Backend } from '../../application/ports/backend.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * A backend to check against the contract, with the means to inspect it. A place is what the backend programs: a
 * kernel, a file, a table in memory. Optional members add cases; the cases that every backend must pass always run.
 */
export interface BackendSubject<Place> {
  readonly family: IpFamily;

  /** A new place for each case. What is in it belongs to other programs, and must still be there after a clean-up. */
  makePlace(): Promise<Place> | Place;

  /** Called at the end of each case, also after a failure. */
  removePlace?(place: Place): Promise<void> | void;

  /** A backend on the place, as a new process would make it. */
  open(place: Place): Promise<Backend> | Backend;

  /**
   * Everything that the place holds, in a form that can be compared: what means the same must be equal. So sort what
   * has no order, and omit what is chosen at random.
   */
  snapshot(place: Place): Promise<unknown> | unknown;

  /** False if what an earlier process left cannot be adopted, as with sockets. */
  readonly adopts?: boolean;

  /** False if what an earlier process left does not show its service, or leads nowhere. */
  readonly keepsUnexplained?: boolean;

  /** Changes or removes something that the backend has programmed, behind its back. */
  damage?(place: Place): Promise<void> | void;

  /** From now on the place rejects everything of this service port; undefined: it accepts everything again. */
  reject?(place: Place, key: ServicePortKey | undefined): Promise<void> | void;

  /** True if it writes in small steps: of a refused service port the rest is there. */
  readonly writesInParts?: boolean;

  /** How often the place was asked to write so far, accepted or not. Adds the case that a rejection costs few writes. */
  writes?(place: Place): number;

  /** From now on every access to the place fails; undefined: it works again. */
  breakDown?(place: Place, error: Error | undefined): Promise<void> | void;
}

/**
 * One thing that every backend must do. The list is for any test runner: `for (const { name, run } of cases) test(name,
 * run)`.
 */
export interface ContractCase {
  readonly name: string;
  /** Rejects with an AssertionError if the backend does not. */
  run(): Promise<void>;
}
