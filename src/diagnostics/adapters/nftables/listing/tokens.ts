import { NamedError } from '../../../../domain/model/named-error.js';

/** A text that nft never lists; the message says where, and that JSON can be read instead. */
class ListingSyntaxError extends NamedError {
  constructor(line: number, found: string, expected: string) {
    super(
      `line ${line} of what nft listed, at ${JSON.stringify(found)}: expected ${expected}; \`nft -j list ruleset\` can be read, too`,
    );
  }
}

interface Token {
  readonly text: string;
  readonly line: number;
  readonly isQuoted: boolean;
}

const TOKEN = /#[^\n]*|"([^"]*)"|(\n)|([{};])|((?:[^\s{};",]|,(?=[^\s]))+)|(,)/g;
const END = '\n';

/** Reads words one after the other. Lines end statements, but within braces they mean nothing. */
export class Tokens {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(text: string) {
    let line = 1;
    const tokens: Token[] = [];
    for (const [, quoted, end, brace, word, comma] of text.matchAll(TOKEN)) {
      const isQuoted = quoted !== undefined;
      const found = quoted ?? end ?? brace ?? word ?? comma;
      if (found !== undefined) tokens.push({ text: found, line, isQuoted });
      if (end !== undefined) line++;
    }
    this.tokens = tokens;
  }

  /** The next word, without taking it; `''` at the end. */
  get next(): string {
    return this.tokens[this.at]?.text ?? '';
  }

  get isQuoted(): boolean {
    return this.tokens[this.at]?.isQuoted ?? false;
  }

  get isAtEnd(): boolean {
    return this.at >= this.tokens.length;
  }

  get isAtEndOfLine(): boolean {
    return this.isAtEnd || (!this.isQuoted && (this.next === END || this.next === ';' || this.next === '}'));
  }

  /** By how many levels the next word opens a block; braces in quotes do not count. */
  private get levels(): number {
    if (this.isQuoted) return 0;
    return this.next === '{' ? 1 : this.next === '}' ? -1 : 0;
  }

  take(): string {
    const { next } = this;
    this.at++;
    return next;
  }

  /** Takes the next word if it is this one. */
  takes(word: string): boolean {
    const isIt = !this.isQuoted && this.next === word;
    if (isIt) this.at++;
    return isIt;
  }

  expect(word: string): void {
    if (!this.takes(word)) this.fail(JSON.stringify(word));
  }

  skipLines(): void {
    while (!this.isAtEnd && (this.next === END || this.next === ';')) this.at++;
  }

  /** The words up to the end of the line. */
  restOfLine(): string {
    const words: string[] = [];
    let depth = 0;
    while (!this.isAtEnd && (depth > 0 || !this.isAtEndOfLine)) {
      depth += this.levels;
      words.push(this.take());
    }
    return words.join(' ');
  }

  /** Skips what is in braces, the first of which was taken. */
  skipBlock(): void {
    for (let depth = 1; depth > 0;) {
      if (this.isAtEnd) this.fail('"}"');
      depth += this.levels;
      this.at++;
    }
  }

  fail(expected: string): never {
    throw new ListingSyntaxError(
      this.tokens[this.at]?.line ?? this.tokens.at(-1)?.line ?? 1,
      this.next,
      expected,
    );
  }
}
