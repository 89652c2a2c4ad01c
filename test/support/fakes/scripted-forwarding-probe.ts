import type {
  ForwardingProbe,
  OpenForwardingProbe,
} from '../../../src/application/ports/node/forwarding-probe.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';

/** Takes no port and opens no connection: each attempt has the result that a test has set. */
export class ScriptedForwardingProbe implements ForwardingProbe {
  /** Why attempts fail, by family; they succeed where it is missing. */
  readonly problems = new Map<IpFamily, string>();
  /** Why no port can be taken; undefined: they can. */
  unavailable: string | undefined;
  /** Whether the ports are those of every process. */
  isUsual = false;
  /** The families whose ports are taken. */
  readonly openFamilies = new Set<IpFamily>();
  attempts = 0;

  async open(family: IpFamily): Promise<OpenForwardingProbe> {
    if (this.unavailable !== undefined) throw new Error(this.unavailable);
    this.openFamilies.add(family);
    const first = 40_000 + 2 * IP_FAMILIES.indexOf(family);
    return {
      frontend: first,
      endpoint: first + 1,
      isUsual: this.isUsual,
      attempt: async () => {
        this.attempts++;
        return this.problems.get(family);
      },
      close: () => void this.openFamilies.delete(family),
    };
  }
}
