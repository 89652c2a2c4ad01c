import type { Host } from './host.js';

/** Of SCTP. */
const PROTOCOL = 132;
/** Any: that of a repeated INIT is the same. */
const SOURCE_PORT = 40_000;

/**
 * A client of SCTP that opens associations, on a kernel that need not have SCTP: datagrams of UDP that its netfilter makes packets of
 * SCTP on their way out. Nobody hears an answer.
 */
export class SctpClient {
  private constructor(private readonly host: Host) {}

  static async start(host: Host, port: number): Promise<SctpClient> {
    // What is the length and the checksum in UDP's header is the verification tag in SCTP's, which is 0 of an INIT.
    const rules = ['ip protocol', 'ip6 nexthdr']
      .map((field) => `udp dport ${port} @th,32,32 set 0 ${field} set ${PROTOCOL};`)
      .join('\n');
    await host.run(
      ['nft', '-f', '-'],
      `table inet inits { chain out { type filter hook output priority 0;\n${rules}\n}; }`,
    );
    return new SctpClient(host);
  }

  /** Sends an INIT, or repeats it. */
  async init(dst: string, port: number): Promise<void> {
    const checksum = '00000000';
    // Type and flags, length, tag, window, streams out and in, first TSN.
    const chunk = ['0100', '0014', '00000001', '0000ffff', '0001', '0001', '00000001'].join('');
    await this.host.ask('sendDatagram', { dst, port, sourcePort: SOURCE_PORT, hex: checksum + chunk });
  }

  async stop(): Promise<void> {
    await this.host.run(['nft', 'delete', 'table', 'inet', 'inits']);
  }
}
