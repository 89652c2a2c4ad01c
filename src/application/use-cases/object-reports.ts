import type { ServiceKey } from '../../domain/model/service-port-name.js';
import { getOrMake } from '../../domain/model/maps.js';
import { cutText } from '../cut-text.js';
import { MessageRate } from '../message-rate.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';

/** The suffix that the cluster appends to a Service's name to name a slice. */
const GENERATED_SUFFIX = /-[a-z0-9]{5}$/;

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

/** Invalid parts of an object, or of an object that is ignored altogether. */
export interface ObjectProblem {
  /** `Service shop/web`. */
  readonly object: string;
  readonly text: string;
  /** The object is used without its invalid parts. */
  readonly usable: boolean;
}

/** Logs what is wrong with objects of the cluster: each problem of an object once, until it changes, and not too often. */
export class ObjectReports {
  private readonly problems = new Map<string, ObjectProblem>();
  /** The objects among them by the Service that they are named after. */
  private readonly byService = new Map<ServiceKey, Set<string>>();
  private readonly rate: MessageRate;

  constructor(
    private readonly logger: Logger,
    clock: Pick<Clock, 'steady'>,
    /** Objects that the source itself rejects, and did not deliver: `place: Kind namespace/name: reason`. */
    private readonly unread: () => readonly string[] = () => [],
    /** Called when the problems of an object have changed that is named after a Service. */
    private readonly changed: (service: ServiceKey) => void = () => {},
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
      this.remove(id);
      return false;
    }
    const previous = this.problems.get(id);
    if (previous?.text === text && previous.usable === usable) return false;
    this.problems.set(id, { object: id, text, usable });
    const service = serviceNamedBy(id);
    getOrMake(this.byService, service, () => new Set()).add(id);
    this.changed(service);
    const suppressed = this.rate.admit(id);
    if (!suppressed) return false;
    const facts = { kind, name, problems: named, ...suppressed };
    if (usable) this.logger.warn(facts, 'ignoring invalid parts of an object');
    else this.logger.error(facts, 'object is invalid and ignored; keeping the last valid version');
    return true;
  }

  /** The problems of a Service's objects: itself, these slices of it, and unreadable slices named after it. Costs what it has. */
  of(service: ServiceKey, slices: readonly string[]): readonly ObjectProblem[] {
    const unread = this.unread().flatMap((text): readonly ObjectProblem[] => {
      const object = NAMED.exec(text)?.[1];
      return object !== undefined &&
        (serviceNamedBy(object) === service || slices.some((slice) => object === `EndpointSlice ${slice}`))
        ? [{ object, text: text.replace(`${object}: `, ''), usable: false }]
        : [];
    });
    if (this.problems.size === 0) return unread;
    const ids = new Set([
      ...(this.byService.get(service) ?? []),
      ...slices.map((slice) => `EndpointSlice ${slice}`),
    ]);
    return [...[...ids].flatMap((id) => this.problems.get(id) ?? []), ...unread];
  }

  /** The Services that objects are named after which the source itself rejects. */
  get unreadServices(): readonly ServiceKey[] {
    return this.unread().flatMap((text) => {
      const object = NAMED.exec(text)?.[1];
      return object === undefined ? [] : serviceNamedBy(object);
    });
  }

  forget(kind: string, name: string): void {
    this.remove(`${kind} ${name}`);
  }

  private remove(id: string): void {
    if (!this.problems.delete(id)) return;
    const service = serviceNamedBy(id);
    const ids = this.byService.get(service);
    ids?.delete(id);
    if (ids?.size === 0) this.byService.delete(service);
    this.changed(service);
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

/** The Service that an object is named after: a slice has its name, and a generated suffix. */
function serviceNamedBy(object: string): ServiceKey {
  const name = object.slice(object.indexOf(' ') + 1);
  return object.startsWith('EndpointSlice ') && GENERATED_SUFFIX.test(name)
    ? name.replace(GENERATED_SUFFIX, '')
    : name;
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
