import { ParameterProblem } from '../rules/parameter-problem.js';
import type { Rule } from '../rules/rule.js';
import { missing, refusedRules, wrongPath } from '../tables/kernel-check.js';
import type { TableDraft } from '../tables/table-draft.js';
import { BUILT_IN } from '../tables/table.js';
import { countRefusals, NftCommit } from './nft-commit.js';
import { checkTargets } from './perform.js';
import { takeStep, type PlacedStep } from './placed-step.js';
import { readStep } from './read-step.js';
import { nameIn, signature, takeLock, ToolFailure, type IptablesRun, type Steps } from './tool.js';

/** How a restore was started. */
export interface RestoreOptions {
  readonly keeps: boolean;
  readonly onlyTests: boolean;
  readonly wait: number | undefined;
  readonly table: string | undefined;
}

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
      if (run.variant === 'nft') new NftCommit(run, draft.name, steps, this.options.keeps).make();
      else this.commitLegacy(draft);
    }
    run.lock.release(run.holder);
    return 0;
  }

  private commitLegacy(draft: TableDraft): void {
    const refused = refusedRules(draft, this.run.traits);
    countRefusals(
      refused.map(({ rule }) => rule),
      this.run.traits,
    );
    if (refused.length > 0 || wrongPath(draft, 'legacy') !== undefined) throw this.failed(this.line);
    this.run.tables.commit(draft, this.run.process);
  }

  private read(line: string): void {
    if (line === '' || line.startsWith('#') || this.isSkipping) return;
    if (!this.draft) throw new ToolFailure(1, `${nameIn(this.run)}: line ${this.line} failed\n`);
    const step = readStep(line, this.line, this.draft.name, this.run);
    for (const rule of step.rules) this.warn(rule);
    this.take(step);
  }

  private warn(rule: Rule): void {
    const { traits, complain } = this.run;
    for (const name of missing(rule, traits.missingExtensions)) {
      if (this.warned.has(name)) continue;
      this.warned.add(name);
      complain(`Warning: Extension ${name} revision 0 not supported, missing kernel module?\n`);
    }
  }

  private take(step: PlacedStep): void {
    if (this.run.variant === 'nft') {
      this.steps.push(step);
      return;
    }
    const draft = this.draft!;
    const obstacle = checkTargets(draft, step, 'legacy') ?? takeStep(draft, step);
    if (obstacle) throw this.failed(this.line);
  }

  private failed(line: number): ToolFailure {
    return new ToolFailure(1, `${nameIn(this.run)}: line ${line} failed\n`);
  }
}

function unknownTable(table: string, program: string, line: number, variant: 'nft' | 'legacy'): string {
  return variant === 'nft'
    ? `${program}: line ${line} table name '${table}' invalid`
    : `${program}: unable to initialize table '${table}'`;
}
