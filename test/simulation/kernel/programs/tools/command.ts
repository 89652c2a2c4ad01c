import type { ParameterProblem } from '../rules/extension.js';
import { VERDICTS } from '../rules/targets.js';
import { missing, refusedRules, wrongPath } from '../tables/kernel-check.js';
import type { Obstacle, TableDraft } from '../tables/table-draft.js';
import { BUILT_IN, printedChains } from '../tables/table.js';
import { readCommandLine, type CommandLine } from './command-line.js';
import { checkStep, checkTargets, perform, stuckChains, type Step } from './perform.js';
import { nameIn, signature, takeLock, ToolFailure, type IptablesRun, type Steps } from './tool.js';

const WORDS: Readonly<Record<Obstacle, string>> = {
  'no chain': 'No chain/target/match by that name.',
  'chain exists': 'Chain already exists.',
  'no rule': 'Bad rule (does a matching rule exist in that chain?).',
  'index of insertion': 'Index of insertion too big.',
  'index of deletion': 'Index of deletion too big.',
  'built-in': "Invalid argument. Run `dmesg' for more information.",
  'not empty': 'Directory not empty.',
  'in use': 'Too many links.',
  'hook in use': 'Directory not empty.',
  'no built-in chain': 'Bad built-in chain name.',
  policy: "Bad policy name. Run `dmesg' for more information.",
};

const LEADS_TO_HOOK = 'Operation not supported';

/** `iptables`: one command. */
export class Command {
  constructor(private readonly run: IptablesRun) {}

  *main(words: readonly string[]): Steps {
    const { run } = this;
    const line = readCommandLine(words);
    const step = this.stepOf(line);
    if (!BUILT_IN[line.table]) throw new ToolFailure(3, this.unknownTable(line.table));
    if (run.variant === 'legacy') yield* takeLock(run, line.wait);
    yield { for: 'work' };
    if (line.operation === 'S') this.list(line);
    else this.change(line, step);
    run.lock.release(run.holder);
    return 0;
  }

  complaint(problem: ParameterProblem): ToolFailure {
    const name = nameIn(this.run);
    const start = problem.isBare ? '' : `${signature(this.run)}: `;
    const hint = `Try \`${name} -h' or '${name} --help' for more information.\n`;
    return new ToolFailure(2, `${start}${problem.message}\n${hint}`);
  }

  private stepOf(line: CommandLine): Step {
    const { operation, position, ruleWords } = line;
    const hasRule = operation !== undefined && 'AIDC'.includes(operation);
    const isByNumber = operation === 'D' && position !== undefined;
    const { rules: book, variant } = this.run;
    const rules = (isByNumber || !hasRule) && ruleWords.length === 0 ? [] : book.readWords(ruleWords);
    const step = { ...line, rules };
    checkStep(step, line.table, variant);
    return step;
  }

  private change(line: CommandLine, step: Step): void {
    const { tables, variant, traits, process } = this.run;
    const draft = tables.draft(line.table);
    for (const rule of step.rules)
      for (const name of missing(rule, traits.missingExtensions))
        this.run.complain(`Warning: Extension ${name} revision 0 not supported, missing kernel module?\n`);
    const leadsToHook = checkTargets(draft, step, variant);
    if (leadsToHook && variant === 'legacy')
      throw line.operation === 'C' ? this.said(WORDS['no rule']) : this.refusal(LEADS_TO_HOOK, step);
    const obstacle = perform(draft, step);
    if (obstacle) throw this.failure(obstacle, draft, step);
    if (line.operation === 'C') return;
    const [refused] = refusedRules(draft, traits);
    const reason = leadsToHook ? LEADS_TO_HOOK : (refused?.reason ?? wrongPath(draft, variant));
    if (reason !== undefined) throw this.refusal(reason, step);
    tables.commit(draft, process);
  }

  private failure(obstacle: Obstacle, draft: TableDraft, step: Step): ToolFailure {
    const { operation, chain, rules } = step;
    const isNft = this.run.variant === 'nft';
    if (isNft && (obstacle === 'not empty' || obstacle === 'in use')) {
      // It tells of the first only.
      const [stuck] = chain === undefined ? stuckChains(this.run.tables.draft(draft.name)) : [chain];
      const error = `CHAIN_DEL failed (Device or resource busy): chain ${stuck}`;
      return new ToolFailure(4, `${signature(this.run)}:  ${error}\n`);
    }
    let words = WORDS[obstacle];
    if (obstacle === 'no chain' && rules.length > 0 && 'CD'.includes(operation!)) words = WORDS['no rule'];
    // libiptc looks for the target among the chains, and then forgets what it was asked for.
    const isLookedUp = rules.some(({ target }) => target !== undefined && !VERDICTS.has(target));
    if (obstacle === 'no rule' && !isNft && isLookedUp && draft.has(chain!)) words = WORDS['no chain'];
    return this.said(words);
  }

  private said(words: string): ToolFailure {
    return new ToolFailure(1, `${nameIn(this.run)}: ${words}\n`);
  }

  private refusal(reason: string, step: Step): ToolFailure {
    const { operation, chain } = step;
    if (this.run.variant === 'legacy') {
      if (reason === LEADS_TO_HOOK) return this.refusal('Invalid argument', step);
      if (reason === 'Too many links') return this.refusal('Too many levels of symbolic links', step);
      const hint = reason === 'Invalid argument' ? " Run `dmesg' for more information." : '';
      return new ToolFailure(1, `${nameIn(this.run)}: ${reason}.${hint}\n`);
    }
    const verb = operation === 'I' ? 'INSERT' : 'APPEND';
    return new ToolFailure(
      4,
      `${signature(this.run)}:  RULE_${verb} failed (${reason}): rule in chain ${chain}\n`,
    );
  }

  private unknownTable(table: string): string {
    const what =
      this.run.variant === 'nft'
        ? `table '${table}' does not exist`
        : `can't initialize iptables table \`${table}': Table does not exist (do you need to insmod?)`;
    return `${signature(this.run)}: ${what}\nPerhaps iptables or your kernel needs to be upgraded.\n`;
  }

  private list({ table, chain, position }: CommandLine): void {
    const { tables, variant, print } = this.run;
    // iptables-nft makes no table by looking at one.
    const known = variant === 'legacy' ? tables.draft(table).before : tables.table(table);
    const all = printedChains(
      known ?? { name: table, chains: new Map(), references: new Map(), setReferences: new Map() },
    );
    const shown = chain === undefined ? all : all.filter(({ name }) => name === chain);
    if (shown.length === 0) throw new ToolFailure(1, this.noChain(chain!, table));
    const declared = shown.map(({ name, policy }) => (policy ? `-P ${name} ${policy}\n` : `-N ${name}\n`));
    const rules = shown.flatMap(({ name, rules: texts }) =>
      texts.map((text) => (text === '' ? `-A ${name}\n` : `-A ${name} ${text}\n`)),
    );
    print(position === undefined ? [...declared, ...rules].join('') : (rules[position - 1] ?? ''));
  }

  private noChain(chain: string, table: string): string {
    return this.run.variant === 'nft'
      ? `${signature(this.run)}: chain \`${chain}' in table \`${table}' is incompatible, use 'nft' tool.\n`
      : `${nameIn(this.run)}: ${WORDS['no chain']}\n`;
  }
}
