import type { ServiceKey } from '../../domain/model/service-port-name.js';
import { cutText } from '../cut-text.js';
import { MessageRate } from '../message-rate.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';

/** The suffix that the cluster appends to a Service's name to name a slice. */
const GENERATED_SUFFIX = /^[a-z0-9]{5}$/;

/** The object that a problem of the source is about. */
const NAMED = /: ((?:Service|EndpointSlice|Endpoints) [^ :]+): /;

/** Characters. */
const LONGEST_MESSAGE = 1_024;

const UNREADABLE = 'unreadable';

/** Those that are counted even while none of them is ignored. */
const KINDS = ['Service', 'EndpointSlice', 'Node', 'ServiceCIDR', UNREADABLE];

/** Whether a problem of the source names the one object that it is about. If not, it may concern any number of objects. */
export function isAboutObject(problem: string): boolean {
  return NAMED.test(problem);
}

/** Logs what is wrong with objects of the cluster: each problem of an object once, until it changes, and not too often. */
export class ObjectReports {
  private readonly problems = new Map<string, { readonly text: string; readonly usable: boolean }>();
  private readonly rate: MessageRate;

  constructor(
    private readonly logger: Logger,
    clock: Pick<Clock, 'steady'>,
    /** What the source itself rejects, and so did not deliver: `place: Kind namespace/name: reason`. */
    private readonly unread: () => readonly string[] = () => [],
  ) {
    this.rate = new MessageRate(clock, logger);
  }

  /**
   * Returns whether what is wrong with the object was logged: it is news, and there were not too many messages about the object.
   * @param usable whether the object is used without its invalid parts, or ignored altogether
   */
  report(kind: string, name: string, problems: readonly string[], usable: boolean): boolean {
    if (problems.length === 0 && this.problems.size === 0) return false;
    const id = `${kind} ${name}`;
    const named = cutTexts(problems);
    const text = named.join('; ');
    if (problems.length === 0) {
      this.problems.delete(id);
      return false;
    }
    const previous = this.problems.get(id);
    if (previous?.text === text && previous.usable === usable) return false;
    this.problems.set(id, { text, usable });
    const suppressed = this.rate.admit(id);
    if (!suppressed) return false;
    const facts = { kind, name, problems: named, ...suppressed };
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
    const complaints = [...this.problems].flatMap(([id, { text, usable }]) =>
      concerned(id) ? [`${id}${usable ? '' : ' is ignored'}: ${text}`] : [],
    );
    const unread = this.unread().filter((problem) => concerned(NAMED.exec(problem)?.[1] ?? ''));
    return [...complaints, ...unread];
  }

  forget(kind: string, name: string): void {
    this.problems.delete(`${kind} ${name}`);
  }

  /** Everything that is ignored at present, also by the source. */
  get unusable(): readonly string[] {
    return [...this.rejected, ...this.unread()];
  }

  /** The objects among it that have a name. */
  get ignored(): readonly string[] {
    return [...this.rejected, ...this.unread().filter(isAboutObject)];
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
    return [...this.problems].flatMap(([id, { text, usable }]) => (usable ? [] : [`${id}: ${text}`]));
  }

  /** How many objects are used without their invalid parts. */
  get partlyIgnored(): number {
    let count = 0;
    for (const { usable } of this.problems.values()) if (usable) count++;
    return count;
  }

  /** Those of them that are Services or have endpoints. */
  get rejectedServices(): readonly string[] {
    return this.rejected.filter((text) => SERVICES.test(text));
  }
}

/** As many of the texts as fit into a message. */
function cutTexts(texts: readonly string[]): readonly string[] {
  let room = LONGEST_MESSAGE;
  const cut: string[] = [];
  for (const text of texts) {
    if (room <= 0) break;
    cut.push(cutText(text, room));
    room -= text.length;
  }
  return cut;
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
