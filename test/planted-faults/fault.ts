/** A mistake that somebody could make in the program. */
export interface PlantedFault {
  readonly name: string;
  /** The file that gets it. */
  readonly file: string;
  /** The correct text; it occurs exactly once in the file. */
  readonly original: string;
  /** The text that replaces it. */
  readonly fault: string;
  /** The modes in which it shows. Missing: all. */
  readonly modes?: readonly Mode[];
}

export type Mode = 'nftables' | 'iptables' | 'ipvs' | 'userspace';

/** Modes whose packets the kernel forwards. */
export const IN_KERNEL: readonly Mode[] = ['nftables', 'iptables', 'ipvs'];
