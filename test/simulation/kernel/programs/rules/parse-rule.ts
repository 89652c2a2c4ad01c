import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import {
  OpenExtension,
  type Extension,
  type RuleContext,
  ParameterProblem,
  type Rule,
  wordsOf,
} from './extension.js';
import { MATCHES } from './matches.js';
import { TARGETS, VERDICTS } from './targets.js';
import { interfaceName, networkText, protocolName } from './values.js';

/** The options that are not those of an extension, and what people also write for them. */
const OPTIONS: Readonly<Record<string, string>> = {
  '-s': '-s',
  '--source': '-s',
  '--src': '-s',
  '-d': '-d',
  '--destination': '-d',
  '--dst': '-d',
  '-i': '-i',
  '--in-interface': '-i',
  '-o': '-o',
  '--out-interface': '-o',
  '-p': '-p',
  '--protocol': '-p',
  '--proto': '-p',
  '-m': '-m',
  '--match': '-m',
  '-j': '-j',
  '--jump': '-j',
  '-g': '-g',
  '--goto': '-g',
};
const LAST = /^-j (?:ACCEPT|DROP|RETURN)$/;
const PRINTED_ORDER = ['-s', '-d', '-i', '-o', '-p'] as const;
type Selector = (typeof PRINTED_ORDER)[number];

/** Reads the words of a rule, those behind `-A CHAIN`. Several addresses make several rules. */
class RuleParser {
  private readonly selectors = new Map<
    Selector,
    { readonly values: readonly string[]; readonly isNegated: boolean }
  >();
  private readonly matches: OpenExtension[] = [];
  private target:
    | { readonly name: string; readonly isGoto: boolean; readonly open: OpenExtension | undefined }
    | undefined;
  private isNegated = false;

  constructor(
    private readonly family: IpFamily,
    private readonly setFamily: RuleContext['setFamily'],
  ) {}

  /** @throws ParameterProblem */
  parse(words: readonly string[]): readonly Rule[] {
    for (let at = 0; at < words.length;) {
      const word = words[at]!;
      if (word === '!') {
        this.isNegated = true;
        at++;
        continue;
      }
      if (!word.startsWith('-')) throw new ParameterProblem(`Bad argument \`${word}'`, true);
      at += 1 + this.readOption(word, words.slice(at + 1));
      this.isNegated = false;
    }
    return this.rules();
  }

  private get context(): RuleContext {
    return { family: this.family, protocol: this.selectors.get('-p')?.values[0], setFamily: this.setFamily };
  }

  private readOption(word: string, rest: readonly string[]): number {
    const option = OPTIONS[word];
    if (option === undefined) return this.readExtensionOption(word, rest);
    const [value] = rest;
    if (value === undefined) throw new ParameterProblem(`option "${word}" requires an argument`);
    if (option === '-m') this.matches.push(new OpenExtension(matchNamed(value)));
    else if (option === '-j' || option === '-g') this.readTarget(option, value);
    else this.readSelector(option as Selector, value);
    return 1;
  }

  private readSelector(option: Selector, value: string): void {
    if (this.selectors.has(option)) throw new ParameterProblem(`multiple ${option} flags not allowed`);
    const { isNegated, family } = this;
    const values = { '-s': networks, '-d': networks, '-i': interfaces, '-o': interfaces, '-p': protocols }[
      option
    ](value, family);
    if (values.length > 0) this.selectors.set(option, { values, isNegated });
  }

  private readTarget(option: '-j' | '-g', name: string): void {
    if (this.isNegated) throw new ParameterProblem(`cannot have ! before ${option}`);
    if (this.target) throw new ParameterProblem(`multiple ${option} flags not allowed`);
    const extension = option === '-j' ? TARGETS.get(name) : undefined;
    this.target = { name, isGoto: option === '-g', open: extension && new OpenExtension(extension) };
  }

  private readExtensionOption(word: string, rest: readonly string[]): number {
    const name = word.slice(2);
    const open = word.startsWith('--') ? (this.extensionWith(name) ?? this.implied(name)) : undefined;
    if (!open) throw new ParameterProblem(`unknown option "${word}"`);
    return open.read(name, rest, this.isNegated, this.context);
  }

  private extensionWith(option: string): OpenExtension | undefined {
    return (
      this.matches.findLast((match) => match.has(option)) ??
      (this.target?.open?.has(option) ? this.target.open : undefined)
    );
  }

  /** The match of the protocol, which need not be named before its options. */
  private implied(option: string): OpenExtension | undefined {
    const match = MATCHES.get(this.context.protocol ?? '');
    if (!match || this.matches.some(({ extension }) => extension === match)) return undefined;
    const open = new OpenExtension(match);
    if (!open.has(option)) return undefined;
    this.matches.push(open);
    return open;
  }

  private rules(): readonly Rule[] {
    const { context, target, matches } = this;
    const texts = matches.map((match) => ` -m ${match.extension.name}${match.text(context)}`);
    const targetText = target
      ? ` ${target.isGoto ? '-g' : '-j'} ${target.name}${target.open?.text(context) ?? ''}`
      : '';
    const extensions = [
      ...matches.map(({ extension }) => extension),
      ...(target?.open ? [target.open.extension] : []),
    ];
    const isChain = target !== undefined && !target.open && !VERDICTS.has(target.name);
    const shared = {
      target: target?.name,
      chain: isChain ? target.name : undefined,
      isGoto: target?.isGoto ?? false,
      extensions,
      hooks: target?.open?.extension.hooks,
      protocol: context.protocol,
      sets: namesGiven(matches, 'match-set').map((value) => value.split(' ')[0]!),
      counters: namesGiven(matches, 'nfacct-name'),
    };
    return this.selections().map((selection) => {
      const text = `${selection}${texts.join('')}${targetText}`.slice(1);
      return { ...shared, text, isLast: LAST.test(text) };
    });
  }

  /** What is said of addresses, devices and the protocol; once for each pair of addresses. */
  private selections(): readonly string[] {
    let selections = [''];
    for (const option of PRINTED_ORDER) {
      const selector = this.selectors.get(option);
      if (!selector) continue;
      const start = `${selector.isNegated ? ' !' : ''} ${option} `;
      selections = selections.flatMap((before) =>
        selector.values.map((value) => `${before}${start}${value}`),
      );
    }
    return selections;
  }
}

function matchNamed(name: string): Extension {
  const match = MATCHES.get(name);
  if (!match) throw new ParameterProblem(`Couldn't load match \`${name}':No such file or directory\n`);
  return match;
}

function networks(text: string, family: IpFamily): readonly string[] {
  const read = text.split(',').map((part) => networkText(part, family));
  return read.filter((value) => value !== undefined);
}

function interfaces(text: string): readonly string[] {
  return [interfaceName(text)];
}

function protocols(text: string): readonly string[] {
  const name = protocolName(text);
  return name === undefined ? [] : [name];
}

function namesGiven(matches: readonly OpenExtension[], option: string): readonly string[] {
  return matches.flatMap(({ given }) => given.get(option)?.value ?? []);
}

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
