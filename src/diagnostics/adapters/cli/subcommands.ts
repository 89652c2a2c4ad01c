/** All subcommands of the program and of the kubectl plugin, and the options of `plan`. */

import type { RequestOf } from './options.js';
import { clusterCommand } from './cluster/cluster-command.js';
import { PLUGIN } from '../../../adapters/cli/reader.js';
import { completeCommand, completionCommand } from './commands/completion.js';
import { compareCommand } from './commands/compare.js';
import { diffCommand } from './commands/diff.js';
import { drainStatusCommand } from './commands/drain-status.js';
import { dumpCommand } from './commands/dump.js';
import { explainCommand } from './commands/explain.js';
import { historyCommand } from './commands/history.js';
import { servicesCommand } from './commands/services.js';
import { statusCommand } from './commands/status.js';
import type { AnySubcommand } from '../../../adapters/cli/subcommand.js';
import { topCommand } from './commands/top.js';
import { traceCommand } from './commands/trace.js';
import { versionCommand } from './commands/version.js';
import { validateCommand } from './commands/validate.js';
import { Option } from 'commander';
import { rejectOperands } from '../../../adapters/cli/usage-error.js';
import { colorOption, subcommand } from './options.js';

const FAMILIES = { ipv4: 'IPv4', ipv6: 'IPv6' } as const;

interface PlanOptions {
  readonly family?: keyof typeof FAMILIES;
}

/** What to plan: one family or all. */
const planCommand = subcommand({
  name: 'plan',
  group: 'Without a proxy:',
  description: 'Print the rules that a proxy with the same flags would write, without changing anything.',
  summary: 'Print the rules that a proxy with the same flags would write.',
  usage: '[flags]',
  options: [
    new Option(
      '--family <family>',
      'Print the rules of this IP family only, so that one tool can read them.',
    ).choices(Object.keys(FAMILIES)),
    colorOption,
  ],
  request(operands, { family }: PlanOptions) {
    rejectOperands(operands, 'kubeproxy plan');
    return { family: family && FAMILIES[family] };
  },
});

/** All subcommands, in the order of `--help`. */
export const subcommands = [
  statusCommand,
  servicesCommand,
  explainCommand,
  traceCommand,
  diffCommand,
  historyCommand,
  topCommand,
  drainStatusCommand,
  dumpCommand,
  versionCommand,
  planCommand,
  compareCommand,
  validateCommand,
  completionCommand,
  completeCommand,
] as const;

/** Those of the program with this name: the plugin for kubectl has one, whose own commands it offers. */
export function subcommandsOf(program: string): readonly AnySubcommand[] {
  return (program === PLUGIN ? [clusterCommand] : subcommands) as readonly AnySubcommand[];
}

/** The request of a subcommand. */
export type Request = RequestOf<(typeof subcommands)[number] | typeof clusterCommand>;

/** The request of the subcommand of this name. */
export type RequestFor<Name extends Request['name']> = Extract<Request, { readonly name: Name }>;
