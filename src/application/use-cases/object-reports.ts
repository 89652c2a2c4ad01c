import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { Logger } from '../ports/logger.js';

/** What the cluster puts behind a Service's name to name a slice. */
const GENERATED_SUFFIX = /^[a-z0-9]{5}$/;

/** The object that a problem of the source is about. */
const NAMED = /: ((?:Service|EndpointSlice|Endpoints) [^ :]+): /;

/** Reports what is wrong with objects from outside: each complaint about an object once, until it changes. */
export class ObjectReports {
  private readonly complaints = new Map<string, { readonly text: string; readonly usable: boolean }>();

  constructor(
    private readonly logger: Logger,
    /** What the source leaves out by itself, and therefore did not deliver: `place: Kind namespace/name: reason`. */
    private readonly unread: () => readonly string[] = () => [],
  ) {}

  /**
   * @param usable whether the object is used without the parts that are wrong, or left out altogether
   */
  report(kind: string, name: string, problems: readonly string[], usable: boolean): void {
    if (problems.length === 0 && this.complaints.size === 0) return;
    const id = `${kind} ${name}`;
    const text = problems.join('; ');
    if (problems.length === 0) {
      this.complaints.delete(id);
      return;
    }
    const former = this.complaints.get(id);
    if (former?.text === text && former.usable === usable) return;
    this.complaints.set(id, { text, usable });
    const facts = { kind, name, problems };
    if (usable) this.logger.warn(facts, 'parts of an object are invalid and left out');
    else this.logger.error(facts, 'object is invalid and left out; what it held before stays');
  }

  /** What is wrong with the objects of a Service: itself, these slices of it, and slices named after it that cannot be read. */
  about(service: ServiceKey, slices: readonly string[]): readonly string[] {
    const own = new Set([
      `Service ${service}`,
      `Endpoints ${service}`,
      ...slices.map((slice) => `EndpointSlice ${slice}`),
    ]);
    const prefix = `EndpointSlice ${service}-`;
    const concerned = (id: string): boolean =>
      own.has(id) || (id.startsWith(prefix) && GENERATED_SUFFIX.test(id.slice(prefix.length)));
    const complaints = [...this.complaints].flatMap(([id, { text, usable }]) =>
      concerned(id) ? [`${id}${usable ? '' : ' is left out'}: ${text}`] : [],
    );
    const unread = this.unread().filter((problem) => concerned(NAMED.exec(problem)?.[1] ?? ''));
    return [...complaints, ...unread];
  }

  forget(kind: string, name: string): void {
    this.complaints.delete(`${kind} ${name}`);
  }

  /** All that is left out at present, also by the source. */
  get leftOut(): readonly string[] {
    return [...this.rejected, ...this.unread()];
  }

  /** The objects that were delivered and are left out at present, each with the reason. */
  get rejected(): readonly string[] {
    return [...this.complaints].flatMap(([id, { text, usable }]) => (usable ? [] : [`${id}: ${text}`]));
  }
}

const PLAIN_NAME = /^[a-z0-9./-]{1,330}$/;

/** `namespace/name` of a raw object, as far as it has them, for the log. */
export function rawName(object: unknown): string {
  const metadata = (object as { metadata?: { namespace?: unknown; name?: unknown } } | null | undefined)
    ?.metadata;
  const { namespace, name } = metadata ?? {};
  const parts = [namespace, name].filter((part) => typeof part === 'string');
  const text = parts.join('/');
  return PLAIN_NAME.test(text) ? text : JSON.stringify(text.slice(0, 330)).slice(1, -1) || '(without a name)';
}
