import { ParameterProblem, type Rule, wordsOf } from '../rules/extension.js';
import { missing, refusedRules, wrongPath } from '../tables/kernel-check.js';
import type { TableDraft } from '../tables/table-draft.js';
import { BUILT_IN, isBuiltIn } from '../tables/table.js';
import { countRefusals, NftCommit } from './nft-commit.js';
import { checkTargets, takeStep, type PlacedStep, checkChainName, checkStep } from './perform.js';
import { nameIn, signature, takeLock, ToolFailure, type IptablesRun, type Steps } from './tool.js';
import { readCommandLine } from './command-line.js';

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

/** What nearly all lines are; a rule begins with `-` or `!`. */
const COMMAND = /^-([AID]) (\S+)(?: (\d+))?(?: ([-!].*))?$/;
const nothing = { operation: undefined, position: undefined, name: undefined, rules: [] as readonly Rule[] };

/**
 * What a line of a restore asks for: neither a table nor a COMMIT.
 * @throws ParameterProblem, ToolFailure
 */
function readStep(text: string, line: number, table: string, run: IptablesRun): PlacedStep {
  if (text.startsWith(':')) return readChain(text, line, table, run);
  const step = readQuickly(text, line, run) ?? readSlowly(text, line, run);
  checkStep(step, table, run.variant);
  return step;
}

/** `:CHAIN POLICY [PACKETS:BYTES]` */
function readChain(text: string, line: number, table: string, run: IptablesRun): PlacedStep {
  const [chain = '', policy] = text.slice(1).split(/[ \t]+/);
  const { variant } = run;
  if (!policy) throw new ParameterProblem(`${nameIn(run)}: line ${line} policy invalid`);
  if (!isBuiltIn(table, chain)) {
    checkChainName(chain, variant);
    if (variant === 'legacy' && policy !== '-')
      throw new ToolFailure(
        1,
        `${signature(run)}: Can't set policy \`${policy}' on \`${chain}' line ${line}: Bad built-in chain name\n`,
      );
    return { ...nothing, chain, line, declares: true };
  }
  if (policy !== '-') checkPolicy(chain, policy, line, run);
  return { ...nothing, chain, name: policy, line, declares: true };
}

function checkPolicy(chain: string, policy: string, line: number, run: IptablesRun): void {
  if (policy === 'ACCEPT' || policy === 'DROP' || run.variant === 'nft') return;
  const problem = `Can't set policy \`${policy}' on \`${chain}' line ${line}: Bad policy name`;
  throw new ToolFailure(1, `${signature(run)}: ${problem}\n`);
}

function readQuickly(text: string, line: number, { rules: book }: IptablesRun): PlacedStep | undefined {
  const [, operation, chain, place, ruleText = ''] = COMMAND.exec(text) ?? [];
  if (!operation || (place !== undefined && operation === 'A')) return undefined;
  const position = place === undefined ? undefined : Number(place);
  const rules = operation === 'D' && position !== undefined ? [] : book.read(ruleText);
  return {
    operation: operation as 'A' | 'I' | 'D',
    chain,
    position,
    name: undefined,
    rules,
    line,
    declares: false,
  };
}

function readSlowly(text: string, line: number, { rules: book }: IptablesRun): PlacedStep {
  const command = readCommandLine(wordsOf(text));
  const { operation, position, ruleWords } = command;
  const hasRule =
    operation !== undefined && 'AIDC'.includes(operation) && !(operation === 'D' && position !== undefined);
  const rules = hasRule || ruleWords.length > 0 ? book.readWords(ruleWords) : [];
  return { ...command, rules, line, declares: false };
}
