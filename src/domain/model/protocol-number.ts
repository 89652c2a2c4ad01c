import type { Protocol } from './service-port-name.js';

/** The protocol numbers of IP headers (IANA). */
export const PROTOCOL_NUMBERS: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };

/** Those that a Service can have. */
export const PROTOCOLS = Object.keys(PROTOCOL_NUMBERS) as readonly Protocol[];

const BY_NUMBER = new Map(
  Object.entries(PROTOCOL_NUMBERS).map(([name, number]) => [number, name as Protocol]),
);

/** Undefined for a protocol that no Service can have. */
export function protocolOfNumber(number: number): Protocol | undefined {
  return BY_NUMBER.get(number);
}

const TEXTS = Array.from(
  { length: 256 },
  (_, number) => protocolOfNumber(number)?.toLowerCase() ?? String(number),
);

/** As the tools of the kernel print it: `tcp`, or the number of a protocol that no Service can have. */
export function protocolText(number: number): string {
  return TEXTS[number]!;
}

/** Whether a Service can have the protocol. */
export function isProtocol(name: string): name is Protocol {
  return Object.hasOwn(PROTOCOL_NUMBERS, name);
}
