import { Option } from 'commander';
import { refuseOperands } from '../../../../adapters/cli/usage-error.js';
import { colorOption, subcommand } from '../command-line/options.js';

const FAMILIES = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

interface PlanOptions {
  readonly family?: keyof typeof FAMILIES;
}

/** What to plan: one family or all. */
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
    colorOption,
  ],
  request(operands, { family }: PlanOptions) {
    refuseOperands(operands, 'kubeproxy plan');
    return { family: family && FAMILIES[family] };
  },
});
