import { ParameterProblem } from '../rules/extensions.js';
import type { Rule } from '../rules/rule.js';
import {
  hookProblem,
  missing,
  refusedRules,
  ruleProblem,
  wrongPath,
  type KernelTraits,
} from '../tables/kernel-check.js';
import type { Obstacle, TableDraft } from '../tables/table-draft.js';
import { BUILT_IN, isBuiltIn } from '../tables/table.js';
import { checkStep, checkTarget, readLine, takeStep, type Step } from './step.js';
import { misuse, nameIn, signature, takeLock, ToolFailure, type IptablesRun, type Steps } from './tool.js';

/** How a restore was started. */
export interface RestoreOptions {
  readonly keeps: boolean;
  readonly onlyTests: boolean;
  readonly wait: number | undefined;
  readonly table: string | undefined;
}

const WORDS: Readonly<Partial<Record<Obstacle, string>>> = {
  'no chain': 'No chain/target/match by that name',
  'chain exists': 'Chain already exists',
  'no rule': 'Bad rule (does a matching rule exist in that chain?)',
  'index of insertion': 'Index of insertion too big',
  'index of deletion': 'Index of deletion too big',
  'built-in': 'No chain/target/match by that name',
  'hook in use': 'Directory not empty',
};

/** `iptables-restore`: reads its input line by line, and commits each table at its COMMIT. */
export class Restore {
  private line = 0;
  private draft: TableDraft | undefined;
  /** iptables-nft takes all steps only when it commits. */
  private steps: Step[] = [];
  private readonly warned = new Set<string>();
  private isSkipping = false;

  constructor(
    private readonly run: IptablesRun,
    private readonly options: RestoreOptions,
  ) {}

  *main(): Steps {
    try {
      let rest = '';
      for (;;) {
        const piece = (yield { for: 'input' }) as string | undefined;
        const lines = (rest + (piece ?? '')).split('\n');
        rest = lines.pop()!;
        if (piece === undefined && rest !== '') lines.push(rest);
        for (const line of lines) {
          this.line++;
          if (line.startsWith('*') && !this.draft && !this.isSkipping) yield* this.begin(line);
          else if (line === 'COMMIT' && (this.draft ?? this.isSkipping)) yield* this.commit();
          else this.read(line);
        }
        if (piece === undefined) break;
      }
    } catch (error) {
      throw error instanceof ParameterProblem ? misuse(this.run, error, this.line) : error;
    }
    if (this.draft)
      throw new ToolFailure(1, `${nameIn(this.run)}: COMMIT expected at line ${this.line + 1}\n`);
    return 0;
  }

  private *begin(line: string): Steps {
    const name = line.slice(1).split(/[ \t]/)[0]!;
    const { run, options } = this;
    if (options.table !== undefined && options.table !== name) {
      this.isSkipping = true;
      return 0;
    }
    if (!BUILT_IN[name])
      throw new ParameterProblem(`${nameIn(run)}: line ${this.line} table name '${name}' invalid`);
    if (run.variant === 'legacy') yield* takeLock(run, options.wait);
    this.draft = this.opened(name);
    return 0;
  }

  private opened(table: string): TableDraft {
    const draft = this.run.tables.draft(table);
    if (!this.options.keeps) draft.clear();
    return draft;
  }

  private *commit(): Steps {
    const { draft, run } = this;
    if (draft && !this.options.onlyTests) {
      yield { for: 'work' };
      run.tables.commit(
        run.variant === 'nft' ? this.takenSteps(draft.name) : this.checked(draft),
        run.process,
      );
    }
    this.draft = undefined;
    this.steps = [];
    this.isSkipping = false;
    run.lock.release(run.holder);
    return 0;
  }

  private checked(draft: TableDraft): TableDraft {
    const refused = refusedRules(draft, this.run.traits);
    for (const { rule } of refused) countRefusal(rule, this.run.traits);
    if (refused.length > 0 || wrongPath(draft, 'legacy') !== undefined) throw this.failed(this.line);
    return draft;
  }

  private read(line: string): void {
    if (line === '' || line.startsWith('#') || this.isSkipping) return;
    const { draft, run } = this;
    if (!draft) throw this.failed(this.line);
    const step = line.startsWith(':')
      ? this.declaration(line, draft.name)
      : readLine(line, this.line, run.rules);
    checkStep(step, draft.name, run.variant);
    if (step.rule) this.warn(step.rule);
    if (run.variant === 'nft') this.steps.push(step);
    else if (checkTarget(draft, step, 'legacy') ?? takeStep(draft, step)) throw this.failed(this.line);
  }

  /** `:CHAIN POLICY [PACKETS:BYTES]` */
  private declaration(text: string, table: string): Step {
    const [chain = '', policy = ''] = text.slice(1).split(/[ \t]+/);
    const mayBe = isBuiltIn(table, chain) ? ['ACCEPT', 'DROP', '-'] : ['-'];
    if (!mayBe.includes(policy)) throw new Error(`no chain with the policy ${policy} is simulated`);
    return { operation: ':', chain, policy, line: this.line };
  }

  private warn(rule: Rule): void {
    const { traits, complain } = this.run;
    for (const name of missing(rule, traits.missingExtensions)) {
      if (this.warned.has(name)) continue;
      this.warned.add(name);
      complain(`Warning: Extension ${name} revision 0 not supported, missing kernel module?\n`);
    }
  }

  private failed(line: number, words = ''): ToolFailure {
    return new ToolFailure(1, `${nameIn(this.run)}: line ${line} failed${words}\n`);
  }

  /** What iptables-nft does at a COMMIT: all steps at once, on the table as it is now. */
  private takenSteps(table: string): TableDraft {
    const draft = this.opened(table);
    let isRefused = false;
    for (const step of this.steps) {
      if (checkTarget(draft, step, 'nft')) isRefused = true;
      const obstacle = takeStep(draft, step);
      if (obstacle === 'not empty' || obstacle === 'in use') isRefused = true;
      else if (obstacle) {
        // When it deletes a rule by its text, a chain that is missing is nothing else than a rule that is.
        const words = WORDS[step.operation === 'D' && step.rule ? 'no rule' : obstacle];
        throw this.failed(step.line!, `: ${words}.`);
      }
    }
    if (isRefused || refusedRules(draft, this.run.traits).length > 0 || wrongPath(draft, 'nft') !== undefined)
      throw this.refusal(table);
    return draft;
  }

  /**
   * What nf_tables reports of each step, which it takes one after another. Only if it takes each by itself, it looks where packets
   * would go, from the first rule on that leads them to a wrong place.
   */
  private refusal(table: string): ToolFailure {
    const { run, steps } = this;
    const own = this.errors(table, (step) => this.ownProblem(step, table));
    const errors = own.length > 0 ? own : this.errors(table, (_, draft) => wrongPath(draft, 'nft'));
    for (const { operation, rule } of steps) if (rule && operation !== 'D') countRefusal(rule, run.traits);
    return new ToolFailure(4, `${signature(run)}: \n${errors.join('\n')}\n`);
  }

  private errors(
    table: string,
    problemOf: (step: Step, draft: TableDraft) => string | undefined,
  ): readonly string[] {
    const draft = this.opened(table);
    return this.steps.flatMap((step) => {
      const { line, chain = '', operation, rule, position = 1 } = step;
      // To insert behind the last rule is to append.
      const isLast = position > 1 && position > (draft.rules(chain)?.length ?? 0);
      const verb = operation === 'I' && !isLast ? 'INSERT' : 'APPEND';
      if (takeStep(draft, step))
        return `line ${line}: CHAIN_DEL failed (Device or resource busy): chain ${chain}`;
      const reason = rule && operation !== 'D' ? problemOf(step, draft) : undefined;
      return reason === undefined
        ? []
        : `line ${line}: RULE_${verb} failed (${reason}): rule in chain ${chain}`;
    });
  }

  private ownProblem({ rule, chain = '' }: Step, table: string): string | undefined {
    if (isBuiltIn(table, rule!.chain ?? '')) return 'Operation not supported';
    return hookProblem(rule!, table, chain) ?? ruleProblem(table, rule!, this.run.traits);
  }
}

/** A rule was rejected, perhaps because it was to be. */
function countRefusal({ text }: Rule, { refusals }: KernelTraits): void {
  const refusal = refusals.find(({ containing, times }) => times > 0 && text.includes(containing));
  if (refusal) refusal.times--;
}
