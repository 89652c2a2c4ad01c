import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import type { RuleContext } from './extension.js';
import { ParameterProblem } from './parameter-problem.js';
import { RuleParser } from './parse-rule.js';
import type { Rule } from './rule.js';
import { wordsOf } from './words.js';

/** How many texts are kept with what they mean. */
const MOST_KEPT = 50_000;

const KEPT: Readonly<Record<IpFamily, Map<string, readonly Rule[] | ParameterProblem>>> = {
  IPv4: new Map(),
  IPv6: new Map(),
};

/** What a text means does not change, but for the sets that it names; so texts are understood once for all worlds. */
export class RuleBook {
  constructor(
    private readonly family: IpFamily,
    private readonly setFamily: RuleContext['setFamily'],
  ) {}

  /**
   * The rules that a text behind `-A CHAIN ` describes: one, or several with several addresses.
   * @throws ParameterProblem
   */
  read(text: string): readonly Rule[] {
    const kept = KEPT[this.family];
    let known = kept.get(text);
    if (known === undefined) {
      known = this.understand(wordsOf(text));
      if (text.includes('--match-set')) return taken(known);
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(text, known);
    }
    return taken(known);
  }

  /** @throws ParameterProblem */
  readWords(words: readonly string[]): readonly Rule[] {
    return taken(this.understand(words));
  }

  private understand(words: readonly string[]): readonly Rule[] | ParameterProblem {
    try {
      return new RuleParser(this.family, this.setFamily).parse(words);
    } catch (error) {
      if (error instanceof ParameterProblem) return error;
      throw error;
    }
  }
}

function taken(known: readonly Rule[] | ParameterProblem): readonly Rule[] {
  if (known instanceof ParameterProblem) throw known;
  return known;
}
