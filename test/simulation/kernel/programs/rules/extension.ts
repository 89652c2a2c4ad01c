import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';

/** What a rule has said before an option of an extension is read. */
export interface RuleContext {
  readonly family: IpFamily;
  readonly protocol: string | undefined;
  /** The sets that exist; undefined where the kernel has none. */
  readonly setFamily: (name: string) => IpFamily | 'any' | undefined;
}

/** One option of a match or target. */
export interface ExtensionOption {
  /** How many words follow: 1, unless it says otherwise. */
  readonly words?: number;
  readonly mayBeNegated?: boolean;
  /** Its full name, where it is printed shortened. */
  readonly fullName?: string;
  /** The value as it is printed. Throws ParameterProblem. */
  readonly read?: (words: readonly string[], context: RuleContext) => string;
  /** It is another way to say this option. */
  readonly as?: string;
}

/** The options that a rule gave to an extension: as they are printed, by name. */
export type Given = Map<string, { value: string; isNegated: boolean }>;

/** A match or a target that the tools know. */
export interface Extension {
  readonly name: string;
  /** In the order in which they are printed. */
  readonly options: Readonly<Record<string, ExtensionOption>>;
  /** Fills in what is printed though it was not given, and finds out what is missing. Throws ParameterProblem. */
  readonly finish?: (given: Given, context: RuleContext) => void;
  /** The kernel takes it in this table only. */
  readonly table?: string;
  /** The kernel takes it on the way from these built-in chains only. */
  readonly hooks?: readonly string[];
  /** The kernel takes it with this protocol only. */
  readonly protocol?: string;
}

/** Needs an option of this name. */
export function must(extension: string, given: Given, option: string): void {
  if (!given.has(option))
    throw new ParameterProblem(`${extension}: option "--${option}" must be specified\n`);
}

/** Reads options of an extension as they come. */
export class OpenExtension {
  readonly given: Given = new Map();

  constructor(readonly extension: Extension) {}

  has(option: string): boolean {
    return Object.hasOwn(this.extension.options, option);
  }

  /** @returns how many words it took */
  read(option: string, words: readonly string[], isNegated: boolean, context: RuleContext): number {
    const { name, options } = this.extension;
    const described = options[option]!;
    const printed = described.as ?? option;
    const { words: count = 1 } = described;
    if (words.length < count) throw new ParameterProblem(`option "--${option}" requires an argument`);
    if (this.given.has(printed)) {
      const full = options[printed]?.fullName ?? printed;
      throw new ParameterProblem(`${name}: option "--${full}" can only be used once.\n`);
    }
    const taken = words.slice(0, count);
    const value = described.read ? described.read(taken, context) : taken.join(' ');
    this.given.set(printed, { value, isNegated });
    return count;
  }

  /** As iptables-save prints it. */
  text(context: RuleContext): string {
    const { given, extension } = this;
    extension.finish?.(given, context);
    let text = '';
    for (const option of Object.keys(extension.options)) {
      const said = given.get(option);
      if (said)
        text += `${said.isNegated ? ' !' : ''} --${option}${said.value === '' ? '' : ` ${said.value}`}`;
    }
    return text;
  }
}

/** The tool does not understand its input. It exits with 2, before the kernel has seen any of it. */
export class ParameterProblem extends Error {
  override readonly name = 'ParameterProblem';

  /** @param isBare the tool says it without its own name and version before it */
  constructor(
    message: string,
    readonly isBare = false,
  ) {
    super(message);
  }
}

/** The words of a line of a restore, with what stands in double quotes as one, as the tools split them. */
export function wordsOf(line: string): readonly string[] {
  if (!line.includes('"')) return line.split(/[ \t]+/).filter((word) => word !== '');
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    let letter = line[at]!;
    if (isQuoted && letter === '"') isQuoted = false;
    else if (!isQuoted && letter === '"') {
      isQuoted = true;
      word ??= '';
    } else if (!isQuoted && (letter === ' ' || letter === '\t')) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      if (isQuoted && letter === '\\' && at + 1 < line.length) letter = line[++at]!;
      word = (word ?? '') + letter;
    }
  }
  if (word !== undefined) words.push(word);
  return words;
}

const PLAIN = /^[-\w]+$/;

/** A text as iptables-save prints it. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? text : `"${text.replace(/["\\']/g, '\\$&')}"`;
}

/** A rule that a tool has understood. */
export interface Rule {
  /** As iptables-save prints it behind `-A CHAIN `. */
  readonly text: string;
  readonly target: string | undefined;
  /** The target, where it is no extension: a chain that must be there. */
  readonly chain: string | undefined;
  readonly isGoto: boolean;
  /** Matches, and the target if it is one. */
  readonly extensions: readonly Extension[];
  /** The built-in chains that packets may come from; undefined for all. */
  readonly hooks: readonly string[] | undefined;
  /** No packet gets past it in its chain. */
  readonly isLast: boolean;
  readonly protocol: string | undefined;
  /** IP sets that it looks into. */
  readonly sets: readonly string[];
  /** Named counters that it adds to. */
  readonly counters: readonly string[];
}
