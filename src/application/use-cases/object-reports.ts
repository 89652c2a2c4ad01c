import type { Logger } from '../ports/logger.js';

/** Reports what is wrong with objects from outside: each complaint about an object once, until it changes. */
export class ObjectReports {
  private readonly reported = new Map<string, string>();
  private readonly unusable = new Map<string, string>();

  constructor(private readonly logger: Logger) {}

  /**
   * @param usable whether the object is used without the parts that are wrong, or left out altogether
   */
  report(kind: string, name: string, problems: readonly string[], usable: boolean): void {
    const id = `${kind} ${name}`;
    this.unusable.delete(id);
    if (!usable && problems.length > 0) this.unusable.set(id, problems.join('; '));
    if (problems.length === 0) {
      this.reported.delete(id);
      return;
    }
    const text = problems.join('; ');
    if (this.reported.get(id) === text) return;
    this.reported.set(id, text);
    const facts = { kind, name, problems };
    if (usable) this.logger.warn(facts, 'parts of an object are invalid and left out');
    else this.logger.error(facts, 'object is invalid and left out; what it held before stays');
  }

  forget(kind: string, name: string): void {
    this.reported.delete(`${kind} ${name}`);
    this.unusable.delete(`${kind} ${name}`);
  }

  /** The objects that are left out at present, each with the reason. */
  get rejected(): readonly string[] {
    return [...this.unusable].map(([id, reason]) => `${id}: ${reason}`);
  }
}

/** `namespace/name` of a raw object, as far as it has them, for the log. */
export function rawName(object: unknown): string {
  const metadata = (object as { metadata?: { namespace?: unknown; name?: unknown } } | null | undefined)
    ?.metadata;
  const parts = [metadata?.namespace, metadata?.name].filter((part) => typeof part === 'string');
  return JSON.stringify(parts.join('/').slice(0, 330)).slice(1, -1) || '(without a name)';
}
