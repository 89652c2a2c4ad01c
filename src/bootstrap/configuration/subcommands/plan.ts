import { Option } from 'commander';
import { refuseOperands } from './operands.js';
import type { Subcommand } from './subcommand.js';

const FAMILIES = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

export const plan: Subcommand = {
  name: 'plan',
  description:
    'Print the rules that would be written, without changing anything. Takes the same flags, and --family.',
  usage: '[flags]',
  options: [
    new Option(
      '--family <family>',
      'Print the rules of this IP family only, so that one tool can read them.',
    ).choices(Object.keys(FAMILIES)),
  ],
  request(operands, { family }) {
    refuseOperands(operands);
    return family === undefined
      ? { name: 'plan' }
      : { name: 'plan', family: FAMILIES[family as keyof typeof FAMILIES] };
  },
};
