import { ParameterProblem } from '../rules/parameter-problem.js';
import type { Rule } from '../rules/rule.js';
import { wordsOf } from '../rules/words.js';
import { hookProblem, missing, refusedRules, ruleProblem, wrongPath } from '../tables/kernel-check.js';
import type { Obstacle, TableDraft } from '../tables/table-draft.js';
import { BUILT_IN, isBuiltIn } from '../tables/table.js';
import { readCommandLine } from './command-line.js';
import { checkChainName, checkStep, checkTargets, perform, type Step } from './perform.js';
import { nameIn, signature, takeLock, ToolFailure, type IptablesRun, type Steps } from './tool.js';

/** How a restore was started. */
export interface RestoreOptions {
  readonly keeps: boolean;
  readonly onlyTests: boolean;
  readonly wait: number | undefined;
  readonly table: string | undefined;
}

interface PlacedStep extends Step {
  readonly line: number;
  /** `:CHAIN`: a chain that is made, or emptied. */
  readonly declares: boolean;
  readonly counters?: readonly [number, number] | undefined;
}

/** What nearly all lines are; a rule begins with `-` or `!`. */
const COMMAND = /^(?:\[(\d+):(\d+)\] )?-([AID]) (\S+)(?: (\d+))?(?: ([-!].*))?$/;
const WORDS: Readonly<Partial<Record<Obstacle, string>>> = {
  'no chain': 'No chain/target/match by that name',
  'chain exists': 'Chain already exists',
  'no rule': 'Bad rule (does a matching rule exist in that chain?)',
  'index of insertion': 'Index of insertion too big',
  'index of deletion': 'Index of deletion too big',
  'built-in': 'No chain/target/match by that name',
  'no built-in chain': 'Bad built-in chain name',
  policy: 'Bad policy name',
};

/** `iptables-restore`: reads its input line by line, and commits each table at its COMMIT. */
export class Restore {
  private line = 0;
  private draft: TableDraft | undefined;
  /** iptables-nft takes all steps only when it commits. */
  private steps: PlacedStep[] = [];
  private readonly warned = new Set<string>();
  private isSkipping = false;

  constructor(
    private readonly run: IptablesRun,
    private readonly options: RestoreOptions,
  ) {}

  *main(): Steps {
    let rest = '';
    for (;;) {
      const piece = (yield { for: 'input' }) as string | undefined;
      const text = rest + (piece ?? '');
      let start = 0;
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
        const line = text.slice(start, end);
        start = end + 1;
        this.line++;
        if (line.startsWith('*') && !this.draft && !this.isSkipping) yield* this.begin(line);
        else if (line === 'COMMIT' && (this.draft ?? this.isSkipping)) yield* this.commit();
        else this.read(line);
      }
      rest = text.slice(start);
      if (piece !== undefined) continue;
      if (rest !== '') {
        this.line++;
        this.read(rest);
      }
      break;
    }
    if (this.draft)
      throw new ToolFailure(1, `${nameIn(this.run)}: COMMIT expected at line ${this.line + 1}\n`);
    return 0;
  }

  /** What is wrong with the line that is read, in the words of the tool. */
  complaint(problem: ParameterProblem): ToolFailure {
    const { program, variant } = this.run;
    const name = variant === 'legacy' ? nameIn(this.run) : program;
    const start = problem.isBare ? '' : `${signature(this.run)}: `;
    const hint = `Try \`${name} -h' or '${name} --help' for more information.\n`;
    return new ToolFailure(2, `${start}${problem.message}\nError occurred at line: ${this.line}\n${hint}`);
  }

  private *begin(line: string): Steps {
    const name = line.slice(1).split(/[ \t]/)[0]!;
    const { tables, variant } = this.run;
    if (this.options.table !== undefined && this.options.table !== name) {
      this.isSkipping = true;
      return 0;
    }
    if (!BUILT_IN[name]) throw new ParameterProblem(unknownTable(name, nameIn(this.run), this.line, variant));
    if (variant === 'legacy') yield* takeLock(this.run, this.options.wait);
    this.draft = tables.draft(name);
    if (!this.options.keeps) this.draft.clear();
    return 0;
  }

  private *commit(): Steps {
    const { draft, run, steps } = this;
    this.draft = undefined;
    this.steps = [];
    this.isSkipping = false;
    if (!draft) return 0;
    if (!this.options.onlyTests) {
      yield { for: 'work' };
      if (run.variant === 'nft') this.commitNft(draft.name, steps);
      else this.commitLegacy(draft);
    }
    run.lock.release(run.holder);
    return 0;
  }

  private commitLegacy(draft: TableDraft): void {
    const refused = refusedRules(draft, this.run.traits);
    this.countRefusals(refused.map(({ rule }) => rule));
    if (refused.length > 0 || wrongPath(draft, 'legacy') !== undefined) throw this.failed(this.line);
    this.run.tables.commit(draft, this.run.process);
  }

  /** All steps at once, upon the table as it is now. */
  private commitNft(table: string, steps: readonly PlacedStep[]): void {
    const { tables, traits, process } = this.run;
    const draft = tables.draft(table);
    if (!this.options.keeps) draft.clear();
    let isRefused = false;
    for (const step of steps) {
      if (checkTargets(draft, step, 'nft')) isRefused = true;
      const obstacle = take(draft, step);
      if (obstacle === 'not empty' || obstacle === 'in use') isRefused = true;
      else if (obstacle) throw this.failed(step.line, wordsFor(obstacle, step));
    }
    const refused = refusedRules(draft, traits);
    if (isRefused || refused.length > 0 || wrongPath(draft, 'nft') !== undefined)
      throw this.refusal(table, steps);
    tables.commit(draft, process);
  }

  /**
   * What nf_tables says of each step, which it takes one after another. Only if it takes each by itself, it looks where packets
   * would go, from the first rule on that leads them to a wrong place.
   */
  private refusal(table: string, steps: readonly PlacedStep[]): ToolFailure {
    const ofSteps = this.errorsOf(table, steps, (step) => this.ownProblem(table, step));
    const errors =
      ofSteps.length > 0 ? ofSteps : this.errorsOf(table, steps, (_, draft) => wrongPath(draft, 'nft'));
    this.countRefusals(steps.flatMap(({ rules }) => rules));
    return new ToolFailure(4, `${signature(this.run)}: \n${errors.join('\n')}\n`);
  }

  private errorsOf(
    table: string,
    steps: readonly PlacedStep[],
    problemOf: (step: PlacedStep, draft: TableDraft) => string | undefined,
  ): readonly string[] {
    const draft = this.run.tables.draft(table);
    if (!this.options.keeps) draft.clear();
    return steps.flatMap((step) => {
      const { line, chain, operation, rules } = step;
      const verb = verbOf(step, draft);
      if (take(draft, step))
        return `line ${line}: CHAIN_DEL failed (Device or resource busy): chain ${chain}`;
      const reason = rules.length > 0 && operation !== 'D' ? problemOf(step, draft) : undefined;
      return reason === undefined
        ? []
        : `line ${line}: RULE_${verb} failed (${reason}): rule in chain ${chain}`;
    });
  }

  private ownProblem(table: string, { rules, chain = '' }: PlacedStep): string | undefined {
    const problems = rules.map((rule) =>
      isBuiltIn(table, rule.chain ?? '')
        ? 'Operation not supported'
        : (hookProblem(rule, table, chain) ?? ruleProblem(table, rule, this.run.traits)),
    );
    return problems.find((each) => each !== undefined);
  }

  private countRefusals(rules: readonly Rule[]): void {
    for (const { text } of rules) {
      const refusal = this.run.traits.refusals.find(
        ({ containing, times }) => times > 0 && text.includes(containing),
      );
      if (refusal) refusal.times--;
    }
  }

  private read(line: string): void {
    if (line === '' || line.startsWith('#') || this.isSkipping) return;
    if (!this.draft) throw new ToolFailure(1, `${nameIn(this.run)}: line ${this.line} failed\n`);
    if (line.startsWith(':')) this.readChain(line);
    else this.take(this.stepOf(line));
  }

  private readChain(line: string): void {
    const [chain = '', policy, counted] = line.slice(1).split(/[ \t]+/);
    const { variant } = this.run;
    if (!policy) throw new ParameterProblem(`${nameIn(this.run)}: line ${this.line} policy invalid`);
    const name = this.draft!.name;
    if (!isBuiltIn(name, chain)) {
      checkChainName(chain, variant);
      if (variant === 'legacy' && policy !== '-')
        throw new ToolFailure(
          1,
          `${signature(this.run)}: Can't set policy \`${policy}' on \`${chain}' line ${this.line}: Bad built-in chain name\n`,
        );
      this.take({ ...nothing, chain, line: this.line, declares: true, operation: undefined });
      return;
    }
    const [, packets, bytes] = /^\[(\d+):(\d+)\]/.exec(counted ?? '') ?? [];
    const counters = [Number(packets ?? 0), Number(bytes ?? 0)] as const;
    if (policy !== '-') this.checkPolicy(chain, policy);
    this.take({
      ...nothing,
      chain,
      name: policy,
      counters,
      line: this.line,
      declares: true,
      operation: undefined,
    });
  }

  private checkPolicy(chain: string, policy: string): void {
    if (policy === 'ACCEPT' || policy === 'DROP' || this.run.variant === 'nft') return;
    throw new ToolFailure(
      1,
      `${signature(this.run)}: Can't set policy \`${policy}' on \`${chain}' line ${this.line}: Bad policy name\n`,
    );
  }

  private stepOf(text: string): PlacedStep {
    const { rules: book, traits, variant } = this.run;
    const [, packets, bytes, operation, chain, position, ruleText = ''] = COMMAND.exec(text) ?? [];
    let step: PlacedStep;
    if (operation && !(position !== undefined && operation === 'A')) {
      const isByNumber = operation === 'D' && position !== undefined;
      let rules = isByNumber ? [] : book.read(ruleText);
      if (packets !== undefined && packets !== '0') rules = counted(rules, Number(packets), Number(bytes));
      const place = position === undefined ? undefined : Number(position);
      step = {
        operation: operation as 'A',
        chain,
        position: place,
        name: undefined,
        rules,
        line: this.line,
        declares: false,
      };
    } else step = this.slowStepOf(text);
    if (variant === 'nft' || step.operation === 'P' || step.operation === 'N' || step.rules.length > 0)
      checkStep(step, this.draft!.name, variant);
    for (const rule of step.rules)
      for (const name of missing(rule, traits.missingExtensions)) this.warn(name);
    return step;
  }

  private slowStepOf(text: string): PlacedStep {
    if (text.startsWith('[') && !/^\[\d+:\d+\]/.test(text))
      throw new ParameterProblem(`Bad line ${this.line}: need ]`);
    const words = wordsOf(text.replace(/^\[\d+:\d+\] */, ''));
    const command = readCommandLine(words);
    const hasRule = command.operation !== undefined && 'AIDRC'.includes(command.operation);
    const isByNumber = command.operation === 'D' && command.position !== undefined;
    const read = hasRule && !isByNumber ? this.run.rules.readWords(command.ruleWords) : [];
    if (!hasRule && command.ruleWords.length > 0) this.run.rules.readWords(command.ruleWords);
    return { ...command, rules: read, line: this.line, declares: false };
  }

  private warn(extension: string): void {
    if (this.warned.has(extension)) return;
    this.warned.add(extension);
    this.run.complain(`Warning: Extension ${extension} revision 0 not supported, missing kernel module?\n`);
  }

  private take(step: PlacedStep): void {
    if (this.run.variant === 'nft') {
      this.steps.push(step);
      return;
    }
    const draft = this.draft!;
    const obstacle = checkTargets(draft, step, 'legacy') ?? take(draft, step);
    if (obstacle) throw this.failed(this.line);
  }

  private failed(line: number, reason?: string): ToolFailure {
    return new ToolFailure(
      1,
      `${nameIn(this.run)}: line ${line} failed${reason === undefined ? '' : `: ${reason}.`}\n`,
    );
  }
}

const nothing = { position: undefined, name: undefined, rules: [] as readonly Rule[] };

function take(draft: TableDraft, step: PlacedStep): Obstacle | undefined {
  return step.declares ? declare(draft, step) : perform(draft, step);
}

/** `:CHAIN`. Built-in chains keep their rules. */
function declare(
  draft: TableDraft,
  { chain = '', name, counters = [0, 0] }: PlacedStep,
): Obstacle | undefined {
  if (isBuiltIn(draft.name, chain)) {
    if (name === undefined || name === '-') return draft.touch(chain);
    return draft.setPolicy(chain, name, ...counters);
  }
  return draft.has(chain) ? draft.flush(chain) : draft.make(chain);
}

function counted(rules: readonly Rule[], packets: number, bytes: number): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, packets, bytes }));
}

function wordsFor(obstacle: Obstacle, { operation, position }: Step): string | undefined {
  // When it deletes a rule by its text, a chain that is missing is nothing else than a rule that is.
  if (operation === 'D' && position === undefined) return WORDS['no rule'];
  if (operation === 'E' && obstacle === 'chain exists') return 'File exists';
  return WORDS[obstacle];
}

/** What iptables-nft asks the kernel for; to insert behind the last rule is to append. */
function verbOf({ operation, chain = '', position = 1 }: Step, draft: TableDraft): string {
  if (operation === 'R') return 'REPLACE';
  const isLast = position > 1 && position > (draft.rules(chain)?.length ?? 0);
  return operation === 'I' && !isLast ? 'INSERT' : 'APPEND';
}

function unknownTable(table: string, program: string, line: number, variant: 'nft' | 'legacy'): string {
  return variant === 'nft'
    ? `${program}: line ${line} table name '${table}' invalid`
    : `${program}: unable to initialize table '${table}'`;
}
