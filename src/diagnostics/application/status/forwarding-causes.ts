import { errorMessage } from '../../../application/error-message.js';
import { LOCALHOST } from '../../../domain/net/address.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { TraceQuery } from '../../domain/trace/query.js';
import type { TraceAnswer } from '../trace/answer.js';

/** A family that does not forward, with the port to which the failed connections lead. */
interface ForwardingFault {
  readonly family: IpFamily;
  readonly port: number;
}

/** Why the connections of a failed check end where they do, by a trace through the rules of the kernel. */
export class ForwardingCauses {
  /** Of the last `renew`, for people. */
  texts: readonly string[] = [];

  constructor(
    private readonly faults: () => readonly ForwardingFault[],
    /** Through the rules that the kernel has. */
    private readonly trace: (query: TraceQuery) => Promise<TraceAnswer>,
  ) {}

  /** Never rejects. Costs nothing unless a check has failed. */
  async renew(): Promise<void> {
    this.texts = await Promise.all(this.faults().map((fault) => this.causeOf(fault)));
  }

  private async causeOf({ family, port }: ForwardingFault): Promise<string> {
    const to = { family, text: LOCALHOST[family] };
    try {
      return `${family}: ${causeText(await this.trace({ from: { kind: 'node' }, to, port, protocol: 'TCP' }))}`;
    } catch (error) {
      return `${family}: the connections of the check cannot be traced: ${errorMessage(error)}`;
    }
  }
}

function causeText({ outcome, reason, endpoints }: TraceAnswer): string {
  if (reason !== undefined) return `the connections of the check meet ${reason}`;
  if (outcome === 'forward' && endpoints.length > 0)
    return 'the rules of the kernel lead the connections of the check to this program, as they should; look for rules that a trace does not read, such as tables of nftables in iptables mode, and for eBPF programs';
  return 'no rule of the kernel translates the connections of the check';
}
