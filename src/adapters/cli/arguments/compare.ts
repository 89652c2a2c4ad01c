import { Option } from 'commander';
import { SIDE_MODES, type SideMode } from '../../../domain/compare/side.js';
import { ComparisonError } from '../../../application/compare/comparison-error.js';
import { UsageError, refuseOperands } from '../usage-error.js';
import { expectOption, refuseUnknownDifferences } from '../command-line/expected-differences.js';
import { outputOptions, subcommand, type OutputFormat } from '../command-line/options.js';

/** The mode of a plan; undefined: as configured. */
export type PlannedMode = SideMode | undefined;

/** What to compare. */
export type ComparedSide =
  | { readonly kind: 'kernel' }
  | { readonly kind: 'plan'; readonly mode: PlannedMode }
  | { readonly kind: 'dump'; readonly paths: readonly string[] };

export interface CompareOptions {
  readonly kernel?: boolean;
  readonly plan?: readonly (string | true)[] | true;
  readonly dump?: readonly string[];
  readonly expect?: readonly string[];
  readonly output: OutputFormat;
}

export const compare = subcommand({
  name: 'compare',
  group: 'Without a proxy:',
  description:
    'Compare what two sets of rules do with the packets of every client to every Service: those of the kernel, of plans, of saved dumps. 0: equal; 1: something differs; 2: nothing does, but something is not understood.',
  usage: 'two of --kernel, --plan [MODE], --dump FILE[,FILE...] [flags]',
  options: [
    new Option('--kernel', 'What the kernel has now, whichever proxy wrote it. Needs root.'),
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
    ...outputOptions,
  ],
  request(operands, { kernel = false, plan, dump = [], expect = [], output }: CompareOptions) {
    refuseOperands(operands, 'kubeproxy compare');
    const sides: readonly ComparedSide[] = [
      ...(kernel ? [{ kind: 'kernel' } as const] : []),
      ...dump.map((paths) => ({ kind: 'dump', paths: paths.split(',') }) as const),
      ...plansOf(plan).map((mode) => ({ kind: 'plan', mode: modeOf(mode) }) as const),
    ];
    const [one, other, ...more] = sides;
    if (!one || !other || more.length > 0)
      throw new UsageError('compare takes two of --kernel, --plan [MODE] and --dump FILE[,FILE...]');
    refuseUnknownDifferences(expect);
    return { sides: [one, other] as const, expected: expect, output };
  },
});

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
