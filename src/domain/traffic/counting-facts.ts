import { flag, number, optional, type Checked } from '../shape.js';

/** How connections were counted, for those who read the numbers. */
export type CountingFacts = Checked<typeof countingFacts>;
export const countingFacts = {
  /** The first walk through the kernel's table is over. Until then connections are missing. */
  complete: flag,
  /** How much of that table the first walk has read: 0 to 1. */
  readShare: number,
  /** One in so many connections was counted, and the numbers multiplied; 1 for all. */
  sampledOneIn: number,
  /** Since the counting began: how often the kernel's events came faster than they were read, so that some were lost. */
  timesLost: number,
  /** Connections that the kernel tracks, of Services or not. */
  tracked: number,
  /** The kernel counts bytes (nf_conntrack_acct). */
  countsBytes: flag,
  /** The kernel tracks connections of Services: in mode ipvs only while net.ipv4.vs.conntrack is 1. */
  tracksServices: flag,
  /** Packets of pods to a dead endpoint on their own bridge leave no trace in the kernel's table. Missing: they do. */
  hidesDeadOnBridges: optional(flag),
};
