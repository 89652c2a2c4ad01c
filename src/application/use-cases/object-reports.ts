import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { Logger } from '../ports/logger.js';

/** What the cluster puts behind a Service's name to name a slice. */
const GENERATED_SUFFIX = /^[a-z0-9]{5}$/;

/** Reports what is wrong with objects from outside: each complaint about an object once, until it changes. */
export class ObjectReports {
  private readonly complaints = new Map<string, { readonly text: string; readonly usable: boolean }>();

  constructor(private readonly logger: Logger) {}

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
    return [...this.complaints].flatMap(([id, { text, usable }]) => {
      const named = id.startsWith(prefix) && GENERATED_SUFFIX.test(id.slice(prefix.length));
      return own.has(id) || named ? [`${id}${usable ? '' : ' is left out'}: ${text}`] : [];
    });
  }

  forget(kind: string, name: string): void {
    this.complaints.delete(`${kind} ${name}`);
  }

  /** The objects that are left out at present, each with the reason. */
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
