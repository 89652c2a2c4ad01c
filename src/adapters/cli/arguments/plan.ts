import { Option } from 'commander';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { refuseOperands } from './operands.js';
import type { Subcommand } from './subcommand.js';

const FAMILIES = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

/** What to plan. */
export interface PlanRequest {
  readonly name: 'plan';
  /** Only this one, if one is given. */
  readonly family?: IpFamily;
  /** Only what would change. */
  readonly diff: boolean;
}

export const plan: Subcommand<PlanRequest> = {
  name: 'plan',
  description:
    'Print the rules that would be written, without changing anything. Takes the same flags, and --family and --diff.',
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
  ],
  request(operands, { family, diff }) {
    refuseOperands(operands, 'kubeproxy plan');
    return {
      name: 'plan',
      diff: diff === true,
      ...(family !== undefined && { family: FAMILIES[family as keyof typeof FAMILIES] }),
    };
  },
};
