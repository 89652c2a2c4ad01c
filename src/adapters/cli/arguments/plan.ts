import { Option } from 'commander';
import { refuseOperands } from '../command-line/operands.js';
import { colorOption, subcommand } from '../command-line/subcommand.js';

const FAMILIES = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

export interface PlanOptions {
  readonly family?: keyof typeof FAMILIES;
  readonly diff?: boolean;
}

/** What to plan: one family or all, everything or only what would change. */
export const plan = subcommand({
  name: 'plan',
  group: 'Without a proxy:',
  description: 'Print the rules that a proxy with the same flags would write, without changing anything.',
  usage: '[flags]',
  options: [
    new Option(
      '--family <family>',
      'Print the rules of this IP family only, so that one tool can read them.',
    ).choices(Object.keys(FAMILIES)),
    new Option(
      '--diff',
      'Print only what would change in the kernel: - would go, + would come. Reads the kernel, as root. With --manifests, rules of Services that are not in them stay.',
    ),
    colorOption,
  ],
  request(operands, { family, diff = false }: PlanOptions) {
    refuseOperands(operands, 'kubeproxy plan');
    return { diff, family: family && FAMILIES[family] };
  },
});
