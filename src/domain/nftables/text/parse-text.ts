import type { IpFamily } from '../../net/ip-family.js';
import { ElementReader, parseDeclaration } from './parse-set.js';
import { nftFamily, TABLE_NAME, type Hook, type SetDefinition, type SetElement } from '../layout/table.js';

/** A table as its listing describes it. */
export interface ParsedTable {
  readonly comment?: string;
  readonly chains: ReadonlyMap<string, ParsedChain>;
  readonly sets: ReadonlyMap<string, ParsedSet>;
}

export interface ParsedChain {
  readonly hook?: Hook;
  /** The words of the hook if a Hook cannot describe it (a named priority, a device, a policy of drop). */
  readonly otherHook?: string;
  readonly rules: readonly string[];
}

export interface ParsedSet {
  /** Undefined if a SetDefinition cannot describe the set. */
  readonly definition?: SetDefinition;
  /** The lines of the declaration, joined by `; `. */
  readonly declaration: string;
  /** Empty for sets whose elements were not requested, or that have no definition. */
  readonly elements: ReadonlyMap<string, SetElement>;
}

/** A listing that `nft list table` would not print. */
export class ListingError extends Error {
  constructor(line: number, text: string, expected: string) {
    super(
      `listing of table kube-proxy, line ${line}: ${JSON.stringify(text.slice(0, 200))}: expected ${expected}`,
    );
    this.name = 'ListingError';
  }
}

type Block =
  | { readonly kind: 'outside' }
  | { readonly kind: 'table' }
  | {
      readonly kind: 'chain';
      hook?: Hook;
      otherHook?: string;
      readonly name: string;
      readonly rules: string[];
    }
  | {
      readonly kind: 'set' | 'map';
      readonly name: string;
      readonly lines: string[];
      readonly elements: Map<string, SetElement>;
      definition?: SetDefinition;
      reader?: ElementReader;
      inElements: boolean;
    };

/**
 * Reads a listing piece by piece, so that a large one is never in memory as a whole.
 *
 * Line by line: outside → table (`table ip kube-proxy {`) → chain or set block → back to table at `}` → outside. Inside a
 * set block, the lines before `elements = {` declare the set; the ones from there to the line that ends in ` }` hold elements.
 */
export class TableParser {
  private readonly chains = new Map<string, ParsedChain>();
  private readonly sets = new Map<string, ParsedSet>();
  private comment: string | undefined;
  private block: Block = { kind: 'outside' };
  private pending = '';
  private line = 0;
  private complete = false;
  private repeated = false;

  /** `wanted` selects the sets whose elements are read. */
  constructor(
    private readonly family: IpFamily,
    private readonly wanted: (set: SetDefinition) => boolean,
  ) {}

  push(text: string): void {
    const joined = this.pending + text;
    let start = 0;
    for (let end = joined.indexOf('\n'); end >= 0; end = joined.indexOf('\n', start)) {
      this.readLine(joined.slice(start, end));
      start = end + 1;
    }
    this.pending = joined.slice(start);
  }

  /** Whether an element was listed twice: others are missing then. */
  get hasRepeatedElements(): boolean {
    return this.repeated;
  }

  /** The table. Throws ListingError if the listing was cut off. */
  end(): ParsedTable {
    if (this.pending.trim() !== '') this.readLine(this.pending);
    if (!this.complete) throw new ListingError(this.line, this.pending, 'the end of the table');
    return {
      ...(this.comment !== undefined && { comment: this.comment }),
      chains: this.chains,
      sets: this.sets,
    };
  }

  private readLine(raw: string): void {
    this.line++;
    const text = raw.trim();
    if (text === '') return;
    const { block } = this;
    switch (block.kind) {
      case 'outside':
        return this.readOutside(text);
      case 'table':
        return this.readTableLine(text);
      case 'chain':
        return this.readChainLine(block, text);
      default:
        return this.readSetLine(block, text);
    }
  }

  private readOutside(text: string): void {
    if (this.complete || !text.startsWith(`table ${nftFamily(this.family)} ${TABLE_NAME} {`)) {
      throw new ListingError(this.line, text, `one table ${nftFamily(this.family)} ${TABLE_NAME}`);
    }
    this.block = { kind: 'table' };
  }

  private readTableLine(text: string): void {
    if (text === '}') {
      this.complete = true;
      this.block = { kind: 'outside' };
      return;
    }
    const comment = /^comment "([^"]*)"$/.exec(text);
    if (comment) {
      this.comment = comment[1]!;
      return;
    }
    const [, kind, name] = /^(chain|set|map) (\S+) \{/.exec(text) ?? [];
    if (kind === 'chain') this.block = { kind, name: name!, rules: [] };
    else if (kind === 'set' || kind === 'map')
      this.block = { kind, name: name!, lines: [], elements: new Map(), inElements: false };
    else if (!/^flags \w+/.test(text)) throw new ListingError(this.line, text, 'a chain, a set or a map');
  }

  private readChainLine(block: Block & { kind: 'chain' }, text: string): void {
    if (text === '}') {
      const { name, hook, otherHook, rules } = block;
      this.chains.set(name, { ...(hook && { hook }), ...(otherHook !== undefined && { otherHook }), rules });
      this.block = { kind: 'table' };
    } else if (/^type \w+ hook /.test(text)) {
      block.hook = parseHook(text);
      if (!block.hook) block.otherHook = text;
    } else if (!/^comment "[^"]*"$/.test(text)) {
      block.rules.push(text);
    }
  }

  private readSetLine(block: Block & { kind: 'set' | 'map' }, text: string): void {
    if (block.inElements) return this.readElements(block, text);
    if (text === '}') {
      this.declare(block);
      const { name, definition, lines, elements } = block;
      this.sets.set(name, { ...(definition && { definition }), declaration: lines.join('; '), elements });
      this.block = { kind: 'table' };
    } else if (text.startsWith('elements = {')) {
      this.declare(block);
      block.inElements = true;
      this.readElements(block, text.slice('elements = {'.length).trim());
    } else {
      block.lines.push(text);
    }
  }

  private declare(block: Block & { kind: 'set' | 'map' }): void {
    if (block.inElements || block.definition) return;
    block.definition = parseDeclaration(this.family, block.kind, block.name, block.lines);
    if (block.definition && this.wanted(block.definition)) block.reader = new ElementReader(block.definition);
  }

  private readElements(block: Block & { kind: 'set' | 'map' }, text: string): void {
    const last = text.endsWith('}');
    if (last) block.inElements = false;
    if (!block.reader) return;
    const body = last ? text.slice(0, -1).trimEnd() : text.endsWith(',') ? text.slice(0, -1) : text;
    for (const item of splitElements(body)) {
      const element = block.reader.read(item);
      this.repeated ||= block.elements.has(element.key);
      block.elements.set(element.key, element);
    }
  }
}

/** Splits at commas outside quotes. */
function splitElements(text: string): readonly string[] {
  if (text === '') return [];
  if (!text.includes(',')) return [text];
  if (!text.includes('"')) return text.split(', ');
  return Array.from(text.matchAll(/(?:[^",]|"[^"]*")+/g), ([item]) => item.trim());
}

const HOOK =
  /^type (filter|nat) hook (prerouting|input|forward|output|postrouting) priority (-?\d+);(?: policy accept;)?$/;

function parseHook(text: string): Hook | undefined {
  const [, type, hook, priority] = HOOK.exec(text) ?? [];
  if (priority === undefined) return undefined;
  return { type: type as Hook['type'], hook: hook as Hook['hook'], priority: Number(priority) };
}
