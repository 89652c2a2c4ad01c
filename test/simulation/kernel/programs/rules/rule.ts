import { parseAddress } from '../../../../../src/domain/net/address.js';
import { addressBits, maskAddress } from '../../../../../src/domain/net/cidr.js';
import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import {
  MATCHES,
  ParameterProblem,
  TARGETS,
  VERDICTS,
  type Extension,
  type RuleContext,
} from './extensions.js';

/** A condition of a rule, or an option of its target, as iptables-save prints it: `--dport`, `80`. */
export interface RuleOption {
  readonly name: string;
  readonly value: string;
  readonly isNegated: boolean;
}

/** A rule that a tool has understood. */
export interface Rule {
  /** As iptables-save prints it behind `-A CHAIN `. */
  readonly text: string;
  readonly options: readonly RuleOption[];
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

/** The words of a line of a restore, with what stands in double quotes as one, as the tools split them. */
export function wordsOf(line: string): readonly string[] {
  if (!line.includes('"')) return line.split(/[ \t]+/).filter((word) => word !== '');
  const words = line.match(/(?:[^ \t"]|"(?:\\.|[^"\\])*"?)+/g) ?? [];
  return words.map((word) =>
    word.replace(/"((?:\\.|[^"\\])*)"?/g, (_, text: string) => text.replace(/\\(.)/g, '$1')),
  );
}

/** In the order in which they are printed, with other words for them. */
const SELECTORS = {
  '-s': ['--source', '--src'],
  '-d': ['--destination', '--dst'],
  '-i': ['--in-interface'],
  '-o': ['--out-interface'],
  '-p': ['--protocol', '--proto'],
} as const;
type Selector = keyof typeof SELECTORS;
const SELECTOR_OF = new Map<string, Selector>(
  Object.entries(SELECTORS).flatMap(([name, others]) =>
    [name, ...others].map((word) => [word, name as Selector]),
  ),
);
const TARGET_OPTIONS: ReadonlySet<string> = new Set(['-j', '--jump', '-g', '--goto']);
const LAST = /^-j (?:ACCEPT|DROP|RETURN)$/;
const PROTOCOLS: Readonly<Record<string, string>> = {
  ...{ '6': 'tcp', '17': 'udp', '132': 'sctp', '1': 'icmp' },
  ...{ tcp: 'tcp', udp: 'udp', sctp: 'sctp', icmp: 'icmp' },
};

/** The value of a selector as it is printed; undefined for a network of length 0, which is no condition. */
function selected(selector: Selector, text: string, family: IpFamily): string | undefined {
  if (selector === '-p') {
    const protocol = PROTOCOLS[text];
    if (protocol === undefined) throw new ParameterProblem(`unknown protocol "${text}" specified`);
    return protocol;
  }
  if (selector === '-i' || selector === '-o') {
    if (text.length > 15)
      throw new ParameterProblem(`interface name \`${text}' must be shorter than IFNAMSIZ (15)`);
    return text;
  }
  const [host = '', mask = String(addressBits(family))] = text.split('/');
  const address = parseAddress(host);
  if (address?.family !== family) throw new ParameterProblem(`host/network \`${host}' not found`);
  if (!/^\d+$/.test(mask) || Number(mask) > addressBits(family))
    throw new ParameterProblem(`invalid mask \`${mask}' specified`);
  return Number(mask) === 0 ? undefined : `${maskAddress(address.text, Number(mask))}/${mask}`;
}

/** The options that a rule gave to an extension. */
class GivenExtension {
  private readonly given = new Map<string, RuleOption>();

  constructor(readonly extension: Extension) {}

  has(option: string): boolean {
    return Object.hasOwn(this.extension.options, option);
  }

  /** @returns how many words it took */
  read(option: string, words: readonly string[], isNegated: boolean, context: RuleContext): number {
    const { name, options } = this.extension;
    const described = options[option]!;
    const {
      as = option,
      words: count = 1,
      read,
    } = typeof described === 'object'
      ? described
      : { words: described === 'flag' ? 0 : 1, read: typeof described === 'string' ? undefined : described };
    if (words.length < count) throw new ParameterProblem(`option "--${option}" requires an argument`);
    if (this.given.has(as)) throw new ParameterProblem(`${name}: option "--${as}" can only be used once.\n`);
    const text = words.slice(0, count).join(' ');
    this.given.set(as, { name: `--${as}`, value: read ? read(text, context) : text, isNegated });
    return count;
  }

  /** In the order in which they are printed. */
  finish(context: RuleContext): readonly RuleOption[] {
    const { name, options, needs, defaults } = this.extension;
    if (needs && !needs.some((option) => this.given.has(option)))
      throw new ParameterProblem(`${name}: option "--${needs[0]}" must be specified\n`);
    const missing = defaults?.(context) ?? {};
    return Object.keys(options).flatMap((option) => {
      const value = missing[option];
      const absent = value === undefined ? [] : [{ name: `--${option}`, value, isNegated: false }];
      return this.given.get(option) ?? absent;
    });
  }
}

const printed = ({ name, value, isNegated }: RuleOption): string =>
  `${isNegated ? ' !' : ''} ${name}${value === '' ? '' : ` ${value}`}`;

/** Reads the words of a rule, those behind `-A CHAIN`. */
class RuleParser {
  private readonly selectors = new Map<Selector, RuleOption>();
  private readonly matches: GivenExtension[] = [];
  private target: { readonly name: string; readonly isGoto: boolean } | undefined;
  private targetExtension: GivenExtension | undefined;
  private isNegated = false;

  constructor(
    private readonly family: IpFamily,
    private readonly setFamily: RuleContext['setFamily'],
  ) {}

  /** @throws ParameterProblem */
  parse(words: readonly string[]): Rule {
    for (let at = 0; at < words.length;) {
      const word = words[at++]!;
      if (word === '!') {
        this.isNegated = true;
        continue;
      }
      if (!word.startsWith('-')) throw new ParameterProblem(`Bad argument \`${word}'`, true);
      at += this.readOption(word, words.slice(at));
      this.isNegated = false;
    }
    return this.rule();
  }

  private get context(): RuleContext {
    return { family: this.family, protocol: this.selectors.get('-p')?.value, setFamily: this.setFamily };
  }

  /** @returns how many words it took */
  private readOption(word: string, rest: readonly string[]): number {
    const selector = SELECTOR_OF.get(word);
    const isMatch = word === '-m' || word === '--match';
    if (!selector && !isMatch && !TARGET_OPTIONS.has(word)) return this.readExtensionOption(word, rest);
    const [value] = rest;
    if (value === undefined) throw new ParameterProblem(`option "${word}" requires an argument`);
    if (selector) this.readSelector(selector, value);
    else if (isMatch) {
      const match = MATCHES.get(value);
      if (!match) throw new ParameterProblem(`Couldn't load match \`${value}':No such file or directory\n`);
      this.matches.push(new GivenExtension(match));
    } else {
      if (this.target) throw new ParameterProblem(`multiple ${word} flags not allowed`);
      const isGoto = word === '-g' || word === '--goto';
      const extension = isGoto ? undefined : TARGETS.get(value);
      this.target = { name: value, isGoto };
      this.targetExtension = extension && new GivenExtension(extension);
    }
    return 1;
  }

  private readSelector(name: Selector, text: string): void {
    if (this.selectors.has(name)) throw new ParameterProblem(`multiple ${name} flags not allowed`);
    const value = selected(name, text, this.family);
    if (value !== undefined) this.selectors.set(name, { name, value, isNegated: this.isNegated });
  }

  private readExtensionOption(word: string, rest: readonly string[]): number {
    const name = word.slice(2);
    const extension = word.startsWith('--') ? this.extensionWith(name) : undefined;
    if (!extension) throw new ParameterProblem(`unknown option "${word}"`);
    return extension.read(name, rest, this.isNegated, this.context);
  }

  /** The match of the protocol need not be named before its options. */
  private extensionWith(option: string): GivenExtension | undefined {
    const named = this.matches.findLast((match) => match.has(option));
    if (named) return named;
    if (this.targetExtension?.has(option)) return this.targetExtension;
    const match = MATCHES.get(this.context.protocol ?? '');
    if (!match || this.matches.some(({ extension }) => extension === match)) return undefined;
    const implied = new GivenExtension(match);
    if (!implied.has(option)) return undefined;
    this.matches.push(implied);
    return implied;
  }

  private rule(): Rule {
    const { context, target, targetExtension, matches } = this;
    const selectors = (Object.keys(SELECTORS) as Selector[]).flatMap(
      (name) => this.selectors.get(name) ?? [],
    );
    const ofMatches = matches.map((match) => match.finish(context));
    const ofTarget = targetExtension?.finish(context) ?? [];
    const options = [...selectors, ...ofMatches.flat(), ...ofTarget];
    const text = [
      ...selectors.map(printed),
      ...matches.map(
        ({ extension }, index) => ` -m ${extension.name}${ofMatches[index]!.map(printed).join('')}`,
      ),
      target ? ` ${target.isGoto ? '-g' : '-j'} ${target.name}${ofTarget.map(printed).join('')}` : '',
    ]
      .join('')
      .slice(1);
    const valuesOf = (name: string) =>
      options.filter((option) => option.name === name).map(({ value }) => value);
    return {
      text,
      options,
      target: target?.name,
      chain: target && !targetExtension && !VERDICTS.has(target.name) ? target.name : undefined,
      isGoto: target?.isGoto ?? false,
      extensions: [...matches, ...(targetExtension ? [targetExtension] : [])].map(
        ({ extension }) => extension,
      ),
      hooks: targetExtension?.extension.hooks,
      isLast: LAST.test(text),
      protocol: context.protocol,
      sets: valuesOf('--match-set').map((value) => value.split(' ')[0]!),
      counters: valuesOf('--nfacct-name'),
    };
  }
}

/** How many texts are kept with what they mean. */
const MOST_KEPT = 50_000;

const KEPT: Readonly<Record<IpFamily, Map<string, Rule | ParameterProblem>>> = {
  IPv4: new Map(),
  IPv6: new Map(),
};

/** The meaning of a text does not change, but for the sets that it names; so texts are parsed once for all worlds. */
export class RuleBook {
  constructor(
    private readonly family: IpFamily,
    private readonly setFamily: RuleContext['setFamily'],
  ) {}

  /**
   * The rule that a text behind `-A CHAIN ` describes.
   * @throws ParameterProblem
   */
  read(text: string): Rule {
    if (text.includes('--match-set')) return this.readWords(wordsOf(text));
    const kept = KEPT[this.family];
    let known = kept.get(text);
    if (known === undefined) {
      try {
        known = this.readWords(wordsOf(text));
      } catch (error) {
        if (!(error instanceof ParameterProblem)) throw error;
        known = error;
      }
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(text, known);
    }
    if (known instanceof ParameterProblem) throw known;
    return known;
  }

  /** @throws ParameterProblem */
  readWords(words: readonly string[]): Rule {
    return new RuleParser(this.family, this.setFamily).parse(words);
  }
}
