import { Option } from 'commander';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { ComparisonError } from '../../../application/compare/comparison-error.js';
import { UsageError, refuseOperands } from '../../../../adapters/cli/usage-error.js';
import { expectOption, refuseUnknownDifferences } from '../command-line/expected-differences.js';
import { outputOptions, positiveNumber, subcommand, type OutputFormat } from '../command-line/options.js';

/** The mode of a plan; undefined: as configured. */
export type PlannedMode = SideMode | undefined;

/** What to compare. */
export type ComparedSide =
  | { readonly kind: 'kernel' }
  | { readonly kind: 'plan'; readonly mode: PlannedMode }
  | { readonly kind: 'dump'; readonly paths: readonly string[] };

/** One or two: of the kernel alone, only the rules that it has are listed. */
type ComparedSides = readonly [ComparedSide, ComparedSide] | readonly [{ readonly kind: 'kernel' }];

interface CompareOptions {
  readonly kernel?: boolean;
  readonly proxiesOnly?: boolean;
  readonly limit?: number;
  readonly plan?: readonly (string | true)[] | true;
  readonly dump?: readonly string[];
  readonly expect?: readonly string[];
  readonly output: OutputFormat;
}

export const compare = subcommand({
  name: 'compare',
  group: 'Without a proxy:',
  description:
    'Compare what two sets of rules do with the packets of every client to every Service: those of the kernel, of plans, of saved dumps. With --kernel alone, list the rules that any service proxy has left on this node. 0: equal; 1: something differs, or the planned mode cannot run here; 2: nothing differs, but something is not understood.',
  usage: 'two of --kernel, --plan [MODE], --dump FILE[,FILE...] [flags]',
  options: [
    new Option('--kernel', 'The rules of the kernel, whichever proxy wrote them. Needs root.'),
    new Option(
      '--proxies-only',
      'Ignore rules of the kernel that belong to no service proxy: a plan does not have them either.',
    ),
    new Option(
      '--plan [mode]',
      `What this program would write, from the API server or --manifests: ${SIDE_MODES.join(', ')}; the configured mode without one. Twice: two plans.`,
    ).argParser((mode: string, former: CompareOptions['plan']) => [...plansOf(former), mode]),
    new Option(
      '--dump <files>',
      'What iptables-save and ip6tables-save printed, with ipvsadm -S -n and ipset save for mode ipvs; separated by commas. Twice: two dumps.',
    ).argParser((paths: string, former: readonly string[] = []) => [...former, paths]),
    expectOption(
      'Known differences that do not count, by name, separated by commas; docs/compare.md lists them. Repeatable.',
    ),
    new Option('--limit <number>', 'How many differences to list.').argParser(positiveNumber),
    ...outputOptions,
  ],
  request(operands, options: CompareOptions) {
    const { kernel = false, plan, dump = [], expect = [], proxiesOnly = false, limit, output } = options;
    refuseOperands(operands, 'kubeproxy compare');
    const sides: readonly ComparedSide[] = [
      ...(kernel ? [{ kind: 'kernel' } as const] : []),
      ...dump.map((paths) => ({ kind: 'dump', paths: paths.split(',') }) as const),
      ...plansOf(plan).map((mode) => ({ kind: 'plan', mode: modeOf(mode) }) as const),
    ];
    refuseUnknownDifferences(expect);
    return { sides: comparedSides(sides), expected: expect, proxiesOnly, limit, output };
  },
});

function comparedSides([one, other, ...more]: readonly ComparedSide[]): ComparedSides {
  if (one?.kind === 'kernel' && !other) return [one];
  if (one && other && more.length === 0) return [one, other];
  throw new UsageError(
    'compare takes two of --kernel, --plan [MODE] and --dump FILE[,FILE...], or --kernel alone',
  );
}

function plansOf(plan: CompareOptions['plan']): readonly (string | true)[] {
  return plan === undefined ? [] : plan === true ? [true] : plan;
}

function modeOf(mode: string | true): PlannedMode {
  if (mode === true) return undefined;
  const known = SIDE_MODES.find((each) => each === mode);
  if (known) return known;
  if (mode === 'userspace') throw ComparisonError.userspace('the plan of mode userspace');
  throw new UsageError(`--plan takes ${SIDE_MODES.join(', ')} or nothing, not ${JSON.stringify(mode)}`);
}
