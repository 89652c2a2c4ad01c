import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { Logger } from '../ports/logger.js';

/** The suffix that the cluster appends to a Service's name to name a slice. */
const GENERATED_SUFFIX = /^[a-z0-9]{5}$/;

/** The object that a problem of the source is about. */
const NAMED = /: ((?:Service|EndpointSlice|Endpoints) [^ :]+): /;

const UNREADABLE = 'unreadable';

/** Those that are counted even while none of them is ignored. */
const KINDS = ['Service', 'EndpointSlice', 'Node', 'ServiceCIDR', UNREADABLE];

/** Logs what is wrong with objects of the cluster: each problem of an object once, until it changes. */
export class ObjectReports {
  private readonly complaints = new Map<string, { readonly text: string; readonly usable: boolean }>();

  constructor(
    private readonly logger: Logger,
    /** What the source itself rejects, and so did not deliver: `place: Kind namespace/name: reason`. */
    private readonly unread: () => readonly string[] = () => [],
  ) {}

  /**
   * Returns whether what is wrong with the object is news.
   * @param usable whether the object is used without its invalid parts, or ignored altogether
   */
  report(kind: string, name: string, problems: readonly string[], usable: boolean): boolean {
    if (problems.length === 0 && this.complaints.size === 0) return false;
    const id = `${kind} ${name}`;
    const text = problems.join('; ');
    if (problems.length === 0) {
      this.complaints.delete(id);
      return false;
    }
    const previous = this.complaints.get(id);
    if (previous?.text === text && previous.usable === usable) return false;
    this.complaints.set(id, { text, usable });
    const facts = { kind, name, problems };
    if (usable) this.logger.warn(facts, 'ignoring invalid parts of an object');
    else this.logger.error(facts, 'object is invalid and ignored; keeping the last valid version');
    return true;
  }

  /** What is wrong with the objects of a Service: itself, these slices of it, and unreadable slices named after it. */
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
      concerned(id) ? [`${id}${usable ? '' : ' is ignored'}: ${text}`] : [],
    );
    const unread = this.unread().filter((problem) => concerned(NAMED.exec(problem)?.[1] ?? ''));
    return [...complaints, ...unread];
  }

  forget(kind: string, name: string): void {
    this.complaints.delete(`${kind} ${name}`);
  }

  /** Everything that is ignored at present, also by the source. */
  get unusable(): readonly string[] {
    return [...this.rejected, ...this.unread()];
  }

  /** How many objects are ignored at present, by kind; what cannot even be read as an object counts as `unreadable`. */
  get ignoredByKind(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>(KINDS.map((kind) => [kind, 0]));
    const names = [
      ...this.rejected,
      ...this.unread().map((problem) => NAMED.exec(problem)?.[1] ?? UNREADABLE),
    ];
    for (const name of names) {
      const kind = name.split(' ', 1)[0]!;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    return counts;
  }

  /** The delivered objects that are ignored at present, each with the reason. */
  get rejected(): readonly string[] {
    return [...this.complaints].flatMap(([id, { text, usable }]) => (usable ? [] : [`${id}: ${text}`]));
  }

  /** Those of them that are Services or have endpoints. */
  get rejectedServices(): readonly string[] {
    return this.rejected.filter((text) => SERVICES.test(text));
  }
}

/** Of what rules are. */
const SERVICES = /^(?:Service|EndpointSlice|Endpoints) /;

const PLAIN_NAME = /^[a-z0-9./-]{1,330}$/;

/** `namespace/name` of a raw object, if it has them, for the log. */
export function rawName(object: unknown): string {
  const metadata = (object as { metadata?: { namespace?: unknown; name?: unknown } } | null | undefined)
    ?.metadata;
  const { namespace, name } = metadata ?? {};
  const parts = [namespace, name].filter((part) => typeof part === 'string');
  const text = parts.join('/');
  return PLAIN_NAME.test(text) ? text : JSON.stringify(text.slice(0, 330)).slice(1, -1) || '(without a name)';
}
