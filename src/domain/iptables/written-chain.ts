import type { AppendedRules, Chain, RuleText } from './table.js';

/** A chain whose rules have been made, and are kept as one text: that takes far less memory than a text for each. */
export class WrittenChain implements Chain, AppendedRules {
  readonly table: Chain['table'];
  readonly name: string;
  readonly text: string;
  readonly count: number;

  constructor({ table, name, rules }: Chain) {
    this.table = table;
    this.name = name;
    this.text = rules.map((rule) => appendLine(name, rule)).join('\n');
    this.count = rules.length;
  }

  get appended(): AppendedRules {
    return this;
  }

  get rules(): readonly RuleText[] {
    const before = appendLine(this.name, '').length + 1;
    return this.count === 0 ? [] : this.text.split('\n').map((line) => line.slice(before));
  }
}

/** The line of a restore that appends the rule. */
export function appendLine(chain: string, rule: RuleText): string {
  return rule === '' ? `-A ${chain}` : `-A ${chain} ${rule}`;
}
