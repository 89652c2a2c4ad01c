import { flag, number, optional, type Checked } from '../shape.js';

/** Odd numbers that spread neighboring values over 32 bits, as in multiplicative hashing. */
export const ADDRESS_FACTOR = 0x85ebca6b;
export const PORT_FACTOR = 0x9e3779b1;

/** The most connections that are known at the same time: about 10 MiB. */
const MOST_FLOWS = 65_536;
/** Events that are read in a second: some hundredths of a processor core. */
const MOST_EVENTS = 5_000;
/** One in 65,536 connections: no node has more than what that is enough for. */
const LARGEST_SHIFT = 16;
/** How far below both limits the load must be for a larger sample, so that samples do not change all the time. */
const SLACK = 4;

/**
 * The hash by which connections are sampled. The kernel computes it too, so it is made of what a socket filter can.
 * @param client the client's IPv4 address, or the last four bytes of its IPv6 address, as a number
 */
export function flowHash(client: number, port: number): number {
  return (Math.imul(client, ADDRESS_FACTOR) ^ Math.imul(port, PORT_FACTOR)) >>> 0;
}

/** Whether a connection belongs to the sample of one in 2^shift. A sample contains all smaller ones. */
export function inSample(hash: number, shift: number): boolean {
  return shift === 0 || hash >>> (32 - shift) === 0;
}

/** The recent load of the kernel's events. */
export interface TrafficLoad {
  /** Connections that the kernel tracks. */
  readonly tracked: number;
  /** Events of all connections, sampled or not, in a second. */
  readonly eventsPerSecond: number;
}

/** The largest sample, as one in 2^shift, that keeps within the limits of memory and processor time. */
export function shiftFor({ tracked, eventsPerSecond }: TrafficLoad): number {
  const times = Math.max(tracked / MOST_FLOWS, eventsPerSecond / MOST_EVENTS, 1);
  return Math.min(LARGEST_SHIFT, Math.ceil(Math.log2(times)));
}

/** The next sample: a smaller one immediately, a larger one only when there is slack. */
export function nextShift(current: number, load: TrafficLoad): number {
  const withSlack = shiftFor({
    tracked: load.tracked * SLACK,
    eventsPerSecond: load.eventsPerSecond * SLACK,
  });
  return Math.max(shiftFor(load), Math.min(current, withSlack));
}

/** How connections were counted, for those who read the numbers. */
export type CountingFacts = Checked<typeof countingFacts>;
export const countingFacts = {
  /** The first walk through the kernel's table is over. Until then connections are missing. */
  complete: flag,
  /** How much of that table the first walk has read: 0 to 1. */
  readRatio: number,
  /** One connection in this number was counted, and the counts multiplied; 1: all. */
  samplingRate: number,
  /** Since the counting began: how often the kernel's events came faster than they were read, so that some were lost. */
  eventLosses: number,
  /** Connections that the kernel tracks, of Services or not. */
  trackedConnections: number,
  /** The kernel counts bytes (nf_conntrack_acct). */
  bytesCounted: flag,
  /** The kernel tracks connections of Services: in IPVS mode only while net.ipv4.vs.conntrack is 1. */
  servicesTracked: flag,
  /** Packets of pods to a dead endpoint on their own bridge leave no trace in the kernel's table. Missing: they do. */
  bridgedHidden: optional(flag),
};
