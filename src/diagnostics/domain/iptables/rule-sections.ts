import type { RuleText } from '../../../domain/iptables/table.js';

/** An option with its values: `! --ctstate NEW,DNAT`. */
export interface RuleOption {
  /** With its dashes. */
  readonly name: string;
  readonly isNegated: boolean;
  readonly values: readonly string[];
}

/** The options of one match extension (`-m NAME`), or those before the first one, which have no name. */
export interface RuleSection {
  readonly extension: string;
  readonly options: readonly RuleOption[];
}

/** A rule taken apart. */
export interface RuleSections {
  readonly matches: readonly RuleSection[];
  /** Missing for a rule that only counts. */
  readonly target?: RuleSection & { readonly isGoto: boolean };
}

const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;

/** Takes a rule apart, as iptables-save prints it after `-A CHAIN `: conditions, matches with their options, target. */
export function ruleSections(text: RuleText): RuleSections {
  const matches: RuleSection[] = [];
  let options: MutableOption[] = [];
  let target: RuleSections['target'];
  let awaitsName: '-m' | '-j' | '-g' | undefined;
  let isNegated = false;
  const open = (extension: string) => ({ extension, options: (options = []) });
  matches.push(open(''));
  for (const [, inQuotes, bare] of text.matchAll(WORD)) {
    if (awaitsName !== undefined) {
      const section = open(bare ?? inQuotes!);
      if (awaitsName === '-m') matches.push(section);
      else target = { ...section, isGoto: awaitsName === '-g' };
      awaitsName = undefined;
    } else if (bare === '-m' || bare === '-j' || bare === '-g') awaitsName = bare;
    else if (bare === '!') isNegated = true;
    else if (bare !== undefined && isOption(bare)) {
      options.push({ name: bare, isNegated, values: [] });
      isNegated = false;
    } else options.at(-1)?.values.push(bare ?? unescaped(inQuotes!));
  }
  return { matches, ...(target && { target }) };
}

interface MutableOption extends RuleOption {
  readonly values: string[];
}

/** Values may be negative numbers. */
function isOption(word: string): boolean {
  return /^-{1,2}[a-z]/i.test(word);
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1');
}

/** The first value of an option; undefined where it is missing or has none. */
export function valueOf({ options }: RuleSection, name: string): string | undefined {
  return options.find((option) => option.name === name)?.values[0];
}

export function hasOption({ options }: RuleSection, name: string): boolean {
  return options.some((option) => option.name === name);
}
