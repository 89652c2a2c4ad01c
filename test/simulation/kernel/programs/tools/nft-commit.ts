import type { Rule } from '../rules/extension.js';
import {
  hookProblem,
  refusedRules,
  ruleProblem,
  wrongPath,
  type KernelTraits,
} from '../tables/kernel-check.js';
import type { Obstacle, TableDraft } from '../tables/table-draft.js';
import { isBuiltIn } from '../tables/table.js';
import { checkTargets, stuckChains, type Step, takeStep, type PlacedStep } from './perform.js';
import { nameIn, signature, ToolFailure, type IptablesRun } from './tool.js';

const WORDS: Readonly<Partial<Record<Obstacle, string>>> = {
  'no chain': 'No chain/target/match by that name',
  'chain exists': 'Chain already exists',
  'no rule': 'Bad rule (does a matching rule exist in that chain?)',
  'index of insertion': 'Index of insertion too big',
  'index of deletion': 'Index of deletion too big',
  'built-in': 'No chain/target/match by that name',
  'hook in use': 'Directory not empty',
  'no built-in chain': 'Bad built-in chain name',
  policy: 'Bad policy name',
};

/** What iptables-nft does at a COMMIT: all steps at once, upon the table as it is now. */
export class NftCommit {
  constructor(
    private readonly run: IptablesRun,
    private readonly table: string,
    private readonly steps: readonly PlacedStep[],
    /** Whether what the table has stays. */
    private readonly keeps: boolean,
  ) {}

  /** @throws ParameterProblem, ToolFailure */
  make(): void {
    const { tables, traits, process } = this.run;
    const draft = this.draft();
    let isRefused = false;
    for (const step of this.steps) {
      if (checkTargets(draft, step, 'nft')) isRefused = true;
      const obstacle = takeStep(draft, step);
      if (obstacle === 'not empty' || obstacle === 'in use') isRefused = true;
      else if (obstacle) throw this.failed(obstacle, step);
    }
    isRefused ||= refusedRules(draft, traits).length > 0 || wrongPath(draft, 'nft') !== undefined;
    if (isRefused) throw this.refusal();
    tables.commit(draft, process);
  }

  private draft(): TableDraft {
    const draft = this.run.tables.draft(this.table);
    if (!this.keeps) draft.clear();
    return draft;
  }

  private failed(obstacle: Obstacle, step: PlacedStep): ToolFailure {
    return new ToolFailure(
      1,
      `${nameIn(this.run)}: line ${step.line} failed: ${wordsFor(obstacle, step)}.\n`,
    );
  }

  /**
   * What nf_tables says of each step, which it takes one after another. Only if it takes each by itself, it looks where packets
   * would go, from the first rule on that leads them to a wrong place.
   */
  private refusal(): ToolFailure {
    const own = this.errors((step) => this.ownProblem(step));
    const errors = own.length > 0 ? own : this.errors((_, draft) => wrongPath(draft, 'nft'));
    countRefusals(
      this.steps.filter(isAdding).flatMap(({ rules }) => rules),
      this.run.traits,
    );
    return new ToolFailure(4, `${signature(this.run)}: \n${errors.join('\n')}\n`);
  }

  private errors(problemOf: (step: PlacedStep, draft: TableDraft) => string | undefined): readonly string[] {
    const draft = this.draft();
    return this.steps.flatMap((step) => {
      const { line, chain, operation } = step;
      const busy = (name: string) =>
        `line ${line}: CHAIN_DEL failed (Device or resource busy): chain ${name}`;
      if (operation === 'X' && chain === undefined) return stuckChains(draft).map(busy);
      const verb = verbOf(step, draft);
      if (takeStep(draft, step)) return busy(chain!);
      const reason = isAdding(step) ? problemOf(step, draft) : undefined;
      return reason === undefined
        ? []
        : `line ${line}: RULE_${verb} failed (${reason}): rule in chain ${chain}`;
    });
  }

  private ownProblem({ rules, chain = '' }: PlacedStep): string | undefined {
    const { table, run } = this;
    const problems = rules.map((rule) =>
      isBuiltIn(table, rule.chain ?? '')
        ? 'Operation not supported'
        : (hookProblem(rule, table, chain) ?? ruleProblem(table, rule, run.traits)),
    );
    return problems.find((each) => each !== undefined);
  }
}

function isAdding({ rules, operation }: PlacedStep): boolean {
  return rules.length > 0 && operation !== 'D';
}

/** Some of the rules were refused because they were to be. */
export function countRefusals(rules: readonly Rule[], { refusals }: KernelTraits): void {
  for (const { text } of rules) {
    const refusal = refusals.find(({ containing, times }) => times > 0 && text.includes(containing));
    if (refusal) refusal.times--;
  }
}

function wordsFor(obstacle: Obstacle, { operation, position }: Step): string | undefined {
  // When it deletes a rule by its text, a chain that is missing is nothing else than a rule that is.
  if (operation === 'D' && position === undefined) return WORDS['no rule'];
  return WORDS[obstacle];
}

/** What iptables-nft asks the kernel for; to insert behind the last rule is to append. */
function verbOf({ operation, chain = '', position = 1 }: Step, draft: TableDraft): string {
  const isLast = position > 1 && position > (draft.rules(chain)?.length ?? 0);
  return operation === 'I' && !isLast ? 'INSERT' : 'APPEND';
}
