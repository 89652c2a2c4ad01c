import { ParameterProblem } from '../rules/parameter-problem.js';
import type { Rule } from '../rules/rule.js';
import { wordsOf } from '../rules/words.js';
import { missing, refusedRules, type RefusedRule } from '../tables/kernel-check.js';
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

const COMMAND = /^(?:\[(\d+):(\d+)\] )?-([AID]) (\S+)(?: (?:(\d+)(?: |$))?(.*))?$/;
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
    if (this.draft) throw new ToolFailure(1, `${nameIn(this.run)}: COMMIT expected at line ${this.line + 1}\n`);
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
    this.used(refused);
    if (refused.length > 0 || draft.hasLoop()) throw this.failed(this.line);
    this.run.tables.commit(draft, this.run.process);
  }

  /** All steps at once, upon the table as it is now. */
  private commitNft(table: string, steps: readonly PlacedStep[]): void {
    const { tables, traits, process } = this.run;
    const draft = tables.draft(table);
    if (!this.options.keeps) draft.clear();
    const errors: string[] = [];
    const places = new Map<string, number>();
    for (const step of steps) {
      if (checkTargets(draft, step, 'nft'))
        errors.push(nftError(step.line, `RULE_${verbOf(step)}`, 'Operation not supported', `rule in chain ${step.chain}`));
      const obstacle = step.declares ? declare(draft, step) : perform(draft, step);
      for (const { text } of step.rules) places.set(`${step.chain} ${text}`, step.line);
      if (obstacle === 'not empty' || obstacle === 'in use')
        errors.push(nftError(step.line, 'CHAIN_DEL', 'Device or resource busy', `chain ${step.chain}`));
      else if (obstacle) throw this.failed(step.line, WORDS[deletesRule(step) ? 'no rule' : obstacle]);
    }
    const refused = refusedRules(draft, traits);
    this.used(refused);
    for (const { chain, rule, reason } of refused)
      errors.push(nftError(places.get(`${chain} ${rule.text}`) ?? this.line, 'RULE_APPEND', reason, `rule in chain ${chain}`));
    if (errors.length === 0 && draft.hasLoop()) errors.push(this.loopError(table, steps));
    if (errors.length > 0) throw new ToolFailure(4, `${signature(this.run)}: \n${errors.join('\n')}\n`);
    tables.commit(draft, process);
  }

  /** The first rule that closes a circle. */
  private loopError(table: string, steps: readonly PlacedStep[]): string {
    const draft = this.run.tables.draft(table);
    if (!this.options.keeps) draft.clear();
    for (const step of steps) {
      if (step.declares) declare(draft, step);
      else perform(draft, step);
      if (draft.hasLoop())
        return nftError(step.line, `RULE_${verbOf(step)}`, 'Too many links', `rule in chain ${step.chain}`);
    }
    throw new Error('there was a loop');
  }

  private used(refused: readonly RefusedRule[]): void {
    const { refusals } = this.run.traits;
    for (const { rule } of refused) {
      const refusal = refusals.find(({ containing, times }) => times > 0 && rule.text.includes(containing));
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
        throw new ToolFailure(1, `${signature(this.run)}: Can't set policy \`${policy}' on \`${chain}' line ${this.line}: Bad built-in chain name\n`);
      this.take({ ...nothing, chain, line: this.line, declares: true, operation: undefined });
      return;
    }
    const [, packets, bytes] = /^\[(\d+):(\d+)\]/.exec(counted ?? '') ?? [];
    const counters = [Number(packets ?? 0), Number(bytes ?? 0)] as const;
    if (policy !== '-') this.checkPolicy(chain, policy);
    this.take({ ...nothing, chain, name: policy, counters, line: this.line, declares: true, operation: undefined });
  }

  private checkPolicy(chain: string, policy: string): void {
    if (policy === 'ACCEPT' || policy === 'DROP' || this.run.variant === 'nft') return;
    throw new ToolFailure(1, `${signature(this.run)}: Can't set policy \`${policy}' on \`${chain}' line ${this.line}: Bad policy name\n`);
  }

  private stepOf(text: string): PlacedStep {
    const { rules: book, traits, print, variant } = this.run;
    const [, packets, bytes, operation, chain, position, ruleText = ''] = COMMAND.exec(text) ?? [];
    let step: PlacedStep;
    if (operation && !(position !== undefined && operation === 'A')) {
      const isByNumber = operation === 'D' && position !== undefined;
      let rules = isByNumber ? [] : book.read(ruleText);
      if (packets !== undefined && packets !== '0') rules = counted(rules, Number(packets), Number(bytes));
      const place = position === undefined ? undefined : Number(position);
      step = { operation: operation as 'A', chain, position: place, name: undefined, rules, line: this.line, declares: false };
    } else step = this.slowStepOf(text);
    if (variant === 'nft' || step.operation === 'P' || step.operation === 'N' || step.rules.length > 0)
      checkStep(step, this.draft!.name, variant);
    for (const rule of step.rules)
      for (const name of missing(rule, traits.missingExtensions)) this.warn(name);
    void print;
    return step;
  }

  private slowStepOf(text: string): PlacedStep {
    if (text.startsWith('[') && !/^\[\d+:\d+\]/.test(text)) throw new ParameterProblem(`Bad line ${this.line}: need ]`);
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
    const obstacle =
      checkTargets(draft, step, 'legacy') ?? (step.declares ? declare(draft, step) : perform(draft, step));
    if (obstacle) throw this.failed(this.line);
  }

  private failed(line: number, reason?: string): ToolFailure {
    return new ToolFailure(1, `${nameIn(this.run)}: line ${line} failed${reason === undefined ? '' : `: ${reason}.`}\n`);
  }
}

const nothing = { position: undefined, name: undefined, rules: [] as readonly Rule[] };

/** `:CHAIN`. Built-in chains keep their rules. */
function declare(draft: TableDraft, { chain = '', name, counters = [0, 0] }: PlacedStep): Obstacle | undefined {
  if (isBuiltIn(draft.name, chain)) {
    if (name === undefined || name === '-') return draft.touch(chain);
    return draft.setPolicy(chain, name, ...counters);
  }
  return draft.has(chain) ? draft.flush(chain) : draft.make(chain);
}

function counted(rules: readonly Rule[], packets: number, bytes: number): readonly Rule[] {
  return rules.map((rule) => ({ ...rule, packets, bytes }));
}

/** By its text: then a chain that is missing is nothing else than a rule that is. */
function deletesRule({ operation, position }: Step): boolean {
  return operation === 'D' && position === undefined;
}

function verbOf({ operation }: Step): string {
  return operation === 'I' ? 'INSERT' : operation === 'R' ? 'REPLACE' : 'APPEND';
}

function nftError(line: number, what: string, reason: string, subject: string): string {
  return `line ${line}: ${what} failed (${reason}): ${subject}`;
}

function unknownTable(table: string, program: string, line: number, variant: 'nft' | 'legacy'): string {
  return variant === 'nft'
    ? `${program}: line ${line} table name '${table}' invalid`
    : `${program}: unable to initialize table '${table}'`;
}
