import { InvalidArgumentError, Option } from 'commander';
import { SIDE_MODES } from '../../../domain/compare/side.js';
import type { Destination } from '../../../domain/migration/proxy-daemon-set.js';
import { UNKNOWN } from '../../../domain/migration/verdict.js';
import { expectOption, refuseUnknownDifferences } from '../command-line/expected-differences.js';
import { refuseOperands, UsageError } from '../usage-error.js';
import type { CommandForm } from '../subcommand.js';

/** A migration, as it is asked for. */
export interface MigrationQuestion {
  readonly to: Destination;
  readonly check: boolean;
  readonly label: string;
  /** In this order; missing: all. */
  readonly nodes?: readonly string[];
  /** Labels that nodes must have. */
  readonly nodeLabels: Readonly<Record<string, string>>;
  readonly image?: string;
  readonly expected: readonly string[];
  readonly healthChecks: readonly string[];
  /** Milliseconds. */
  readonly timeout: number;
}

interface MigrateOptions {
  readonly to?: Destination;
  readonly check?: boolean;
  readonly label: string;
  readonly nodes?: string;
  readonly nodeSelector?: string;
  readonly image?: string;
  readonly expect?: readonly string[];
  readonly healthCheck?: readonly string[];
  readonly timeout: number;
}

/** How it reads on the command line, below `cluster`. */
export const migrate: CommandForm<'migrate'> = {
  name: 'migrate',
  description:
    'Move nodes to a mode of this proxy, or back to kube-proxy, one at a time: all are compared first; a node that does something else afterwards, or is not healthy, goes back by itself, and the migration stops. 0: moved, or nothing differs; 1: something differs or failed; 2: something is not understood.',
  usage: '--to MODE|kube-proxy [--check] [flags]',
  options: [
    new Option('--to <destination>', 'A mode of this proxy, or kube-proxy.').choices([
      ...SIDE_MODES,
      'kube-proxy',
    ]),
    new Option('--check', 'Only tell what runs on each node, and what would change.'),
    new Option('--nodes <names>', 'Only these nodes, in this order; separated by commas.'),
    new Option('--node-selector <labels>', 'Only nodes with these labels: KEY=VALUE[,KEY=VALUE...].'),
    expectOption(`Known differences to accept, and ${UNKNOWN} for what is not understood. Repeatable.`),
    new Option(
      '--health-check <command>',
      'Run by sh here after a node has moved, with NODE in the environment, until it ends with 0. Repeatable.',
    ).argParser((command: string, former: readonly string[] = []) => [...former, command]),
    new Option('--label <key>', 'The label of nodes by which DaemonSets select them.').default(
      'service-proxy',
    ),
    new Option('--image <image>', 'The image of this program to look at nodes with, where none runs yet.'),
    new Option('--timeout <seconds>', 'For each thing that is waited for.')
      .default(120_000, '120')
      .argParser(seconds),
  ],
};

/** The migration in these arguments. @throws UsageError */
export function migrationOf(operands: readonly string[], options: object): MigrationQuestion {
  refuseOperands(operands, 'kubectl kubeproxy migrate');
  const {
    to,
    check = false,
    label,
    nodes,
    nodeSelector,
    image,
    expect = [],
    healthCheck = [],
    timeout,
  } = options as MigrateOptions;
  if (to === undefined) throw new UsageError('migrate takes --to MODE or --to kube-proxy');
  refuseUnknownDifferences(expect, [UNKNOWN]);
  return {
    to,
    check,
    label,
    ...(nodes !== undefined && { nodes: nodes.split(',').filter((name) => name !== '') }),
    nodeLabels: labelsIn(nodeSelector ?? ''),
    ...(image !== undefined && { image }),
    expected: expect,
    healthChecks: healthCheck,
    timeout,
  };
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const terms = text.split(',').filter((term) => term !== '');
  return Object.fromEntries(
    terms.map((term) => {
      const [, key, value] = /^([^=!\s]+)==?([^=\s]*)$/.exec(term) ?? [];
      if (key === undefined)
        throw new UsageError(`--node-selector takes KEY=VALUE[,KEY=VALUE...], not ${JSON.stringify(text)}`);
      return [key, value!];
    }),
  );
}

function seconds(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text) * 1000;
  throw new InvalidArgumentError('it must be a whole number of seconds from 1 to 99999.');
}
