/** A match of the mode's rules. */
interface KernelMatch {
  /** A rule that shows whether the kernel has it. */
  readonly trial: string;
  /** What a kernel without it means. */
  readonly without: string;
}

const NOTHING = 'no rules can be programmed';

/** The matches that the rules of the mode are made of. Each is a kernel module of its own, `xt_statistic`. */
export const KERNEL_MATCHES: Readonly<Record<string, KernelMatch>> = {
  statistic: {
    trial: '-m statistic --mode random --probability 0.5',
    without: 'service ports with several endpoints cannot be programmed',
  },
  recent: {
    trial: '-m recent --name KUBE-TRIAL --rcheck',
    without: 'service ports with session affinity cannot be programmed',
  },
  nfacct: { trial: '-m nfacct --nfacct-name trial', without: 'rules have no counters' },
  addrtype: {
    trial: '-m addrtype --dst-type LOCAL',
    without: 'node ports and external traffic policies cannot be programmed',
  },
  comment: { trial: '-m comment --comment trial', without: NOTHING },
  conntrack: { trial: '-m conntrack --ctstate NEW', without: NOTHING },
  mark: { trial: '-m mark --mark 0x1', without: NOTHING },
};

/** What to say of a match that the kernel lacks. */
export function lackingText(match: string): string {
  const known = KERNEL_MATCHES[match];
  const consequence = known ? `: ${known.without}` : '';
  return `this kernel lacks the iptables match \`${match}' (module xt_${match})${consequence}`;
}
