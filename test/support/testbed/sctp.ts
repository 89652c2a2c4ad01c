import type { Host } from './host.js';

/** Of SCTP. */
const PROTOCOL = 132;
/** Of a client. Any will do: that of a repeated INIT is the same. */
export const SCTP_CLIENT_PORT = 40_000;
/** Those of all clients; `send-packets.mjs` has them, too. */
const CLIENT_PORTS = `${SCTP_CLIENT_PORT}-40031`;

/** Type and flags, length, and what else a chunk must have. Both ends have the tag 0x10000. */
const CHUNKS = {
  init: '01000014' + '00010000' + '0000ffff' + '00010001' + '00000001',
  'init ack': '02000014' + '00010000' + '0000ffff' + '00010001' + '00000001',
  heartbeat: '0400000c' + '0001000800000000',
  'heartbeat ack': '0500000c' + '0001000800000000',
  'cookie echo': '0a000008' + '00000000',
  'cookie ack': '0b000004',
} as const;

/** Where a packet goes, and from which port. */
export interface SctpPath {
  readonly dst: string;
  readonly port: number;
  readonly sourcePort: number;
}

/**
 * An end of SCTP associations, client or endpoint, on a kernel that need not have SCTP: datagrams of UDP that its netfilter makes
 * packets of SCTP on their way out. It hears nothing, and says what it is told.
 */
export class SctpHost {
  private constructor(private readonly host: Host) {}

  static async start(host: Host): Promise<SctpHost> {
    // The length and the checksum in UDP's header are the verification tag in SCTP's, which is 0 of an INIT. While the checksum is 0,
    // netfilter does not correct it.
    const tags = ['@th,96,8 1 @th,32,32 set 0', '@th,96,8 != 1 @th,32,32 set 0x10000'];
    const rules = ['ip protocol', 'ip6 nexthdr'].flatMap((field) =>
      ['sport', 'dport'].flatMap((end) =>
        tags.map((tag) => `udp ${end} ${CLIENT_PORTS} ${tag} ${field} set ${PROTOCOL};`),
      ),
    );
    await host.run(
      ['nft', '-f', '-'],
      // Its kernel would answer that it has no SCTP.
      `table inet associations {
         chain in { type filter hook prerouting priority -300; meta l4proto sctp drop; };
         chain out { type filter hook output priority 0;\n${rules.join('\n')}\n};
       }`,
    );
    return new SctpHost(host);
  }

  /** Sends a packet of one chunk. */
  async send(chunk: keyof typeof CHUNKS, path: SctpPath): Promise<void> {
    const checksum = '00000000';
    await this.host.ask('sendDatagram', { ...path, hex: checksum + CHUNKS[chunk] });
  }

  async stop(): Promise<void> {
    await this.host.run(['nft', 'delete', 'table', 'inet', 'associations']);
  }
}
