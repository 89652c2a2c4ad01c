import { PROTOCOL_NUMBERS } from '../../../domain/model/service-port-name.js';
import type { Packet } from '../trace/packet.js';
import { ADDRESSES } from '../../../domain/nftables/layout/table.js';
import { networkHalf, addressBytes } from '../../../domain/nftables/kernel/bytes.js';
/** An ephemeral port, as clients use them. */
const SOURCE_PORT = 40000;
const TCP_SYN = 0x02;

/** The headers of a packet, as rules see them. */
export interface Headers {
  readonly network: Uint8Array;
  readonly transport: Uint8Array;
}

const TRANSPORT_LENGTHS = { TCP: 20, UDP: 8, SCTP: 12 } as const;

/** The headers of the first packet of a connection. */
export function headersOf(packet: Packet): Headers {
  const { family, source, destination, protocol, destinationPort } = packet;
  const number = PROTOCOL_NUMBERS[protocol];
  const network = new Uint8Array(family === 'IPv4' ? 20 : 40);
  if (family === 'IPv4') {
    network.set([0x45, 0, 0, 60, 0, 1, 0x40, 0, 64, number]);
  } else {
    network.set([0x60, 0, 0, 0, 0, 40, number, 64]);
  }
  network.set(addressBytes(source), ADDRESSES[family].saddr);
  network.set(addressBytes(destination), ADDRESSES[family].daddr);
  const transport = new Uint8Array(TRANSPORT_LENGTHS[protocol]);
  transport.set(networkHalf(SOURCE_PORT));
  transport.set(networkHalf(destinationPort), 2);
  if (protocol === 'TCP') transport.set([0x50, TCP_SYN], 12);
  return { network, transport };
}

/** The same with another destination. */
export function readdressed({ network, transport }: Headers, address: string, port: number): Headers {
  const headers = { network: network.slice(), transport: transport.slice() };
  headers.network.set(addressBytes(address), address.includes(':') ? 24 : 16);
  headers.transport.set(networkHalf(port), 2);
  return headers;
}
