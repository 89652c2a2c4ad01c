import { NamedError } from '../model/named-error.js';

/**
 * Result of reading an object from outside. Without `value` the object is unusable, and `problems` say why. `ignored`: it is
 * valid, but not for this proxy; this is why. Otherwise `problems` name malformed parts that are ignored, and `notes` name what is unusual
 * although the API server allows it. Both begin with the path of the field, which contains no space.
 */
export interface Reading<T, Ignored extends string = string> {
  readonly value?: T;
  readonly ignored?: Ignored;
  readonly problems: readonly string[];
  readonly notes?: readonly string[];
}

/** An object from outside breaks a rule; the message names the field and the rule. */
export class InvalidObject extends NamedError {}

/** So many problems of an object are named; the rest is counted. */
const NAMED = 5;

/** The problems of an object, of which it may have tens of thousands. */
export class ProblemList {
  private readonly named: string[] = [];
  private count = 0;

  /** @param text made only for a problem that is named */
  add(text: () => string): void {
    if (this.count++ < NAMED) this.named.push(text());
  }

  /** In order. The last one is the number of those that are not named, if there are any. */
  get texts(): readonly string[] {
    const more = this.count - this.named.length;
    return more === 0 ? this.named : [...this.named, `… and ${more} more problems`];
  }
}

/** A value from outside in a form that is safe to log: quoted, shortened, control characters escaped. Never throws. */
export function quote(value: unknown): string {
  const text = jsonOf(typeof value === 'string' ? value.slice(0, 80) : value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // A big integer, or a circular value, which aliases in YAML can create.
    return typeof value === 'bigint' ? String(value) : 'a value without a JSON form';
  }
}
