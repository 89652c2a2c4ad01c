import type { ApiObject } from './object-store.js';

/** The oldest release that is tested, the newest one, and both sides of what changed between them. */
export const RELEASES = ['1.20', '1.21', '1.24', '1.27', '1.30', '1.31', '1.33', '1.36', '1.38'] as const;

/** The first minor version of 1 that has something. */
type Since = number;

/** Collections, and the first release that has their group in that version. */
const COLLECTIONS: Readonly<Record<string, { readonly group: Since; readonly resource: Since }>> = {
  '/apis/discovery.k8s.io/v1/endpointslices': { group: 21, resource: 21 },
  '/apis/networking.k8s.io/v1/servicecidrs': { group: 19, resource: 33 },
};

const NAMES = ['metadata.name', 'metadata.namespace'];

/** Fields to select by, of collections that have others than the names. */
const SELECTABLE: Readonly<
  Record<string, { readonly fields: readonly string[]; readonly since: Since } | undefined>
> = {
  '/api/v1/services': { fields: [...NAMES, 'spec.clusterIP', 'spec.type'], since: 31 },
  '/api/v1/nodes': { fields: ['metadata.name', 'spec.unschedulable'], since: 0 },
  '/api/v1/events': { fields: [...NAMES, 'involvedObject.kind', 'involvedObject.name', 'type'], since: 0 },
  '/api/v1/pods': {
    fields: [...NAMES, 'spec.nodeName', 'spec.restartPolicy', 'status.phase', 'status.podIP'],
    since: 0,
  },
};

/** Fields that servers keep since a release, by kind; lists are walked through. */
const FIELDS: Readonly<Record<string, readonly (readonly [path: string, since: Since])[]>> = {
  Service: [
    ['spec.ipFamilies', 21],
    ['spec.ipFamilyPolicy', 21],
    ['spec.internalTrafficPolicy', 22],
    ['status.loadBalancer.ingress.ipMode', 29],
    ['spec.trafficDistribution', 30],
  ],
  EndpointSlice: [
    ['endpoints.conditions.serving', 22],
    ['endpoints.conditions.terminating', 22],
    ['endpoints.hints', 24],
    ['endpoints.hints.forNodes', 34],
  ],
};

const RESOURCE_VERSION_MATCH = 'resourceVersionMatch';
const SEND_INITIAL_EVENTS = 'sendInitialEvents';

/** A wrong value of an option, as the causes of a Status have it. */
export interface InvalidOption {
  readonly field: string;
  readonly message: string;
}

const known = new Map<string, Release>();

/** How an API server of one release differs from those of others. */
export class Release {
  private readonly objects = new WeakMap<ApiObject, ApiObject>();

  private constructor(
    /** `1.36`. */
    readonly version: string,
    private readonly minor: number,
  ) {}

  static of(version: string): Release {
    const release = known.get(version) ?? new Release(version, Number(version.split('.')[1]));
    known.set(version, release);
    return release;
  }

  /** On by default in 1.32, off in 1.33, on again since. */
  get streamsLists(): boolean {
    return this.minor === 32 || this.minor >= 34;
  }

  /** What of a collection this release does not have; undefined where it has the collection. */
  missing(collection: string): 'group' | 'resource' | undefined {
    const { group, resource } = COLLECTIONS[collection] ?? { group: 0, resource: 0 };
    if (this.minor < group) return 'group';
    return this.minor < resource ? 'resource' : undefined;
  }

  /** Why an object of that collection cannot be selected by a field; undefined where it can. */
  rejectedField(collection: string, field: string): string | undefined {
    const { fields = NAMES, since = 0 } = SELECTABLE[collection] ?? {};
    if (this.minor >= since && fields.includes(field)) return undefined;
    if (this.minor >= since && fields !== NAMES) return `field label not supported: ${field}`;
    if (NAMES.includes(field)) return undefined;
    const names = NAMES.map((name) => `"${name}"`).join(', ');
    return `"${field}" is not a known field selector: only ${names}`;
  }

  /**
   * Options of a list or watch that are invalid together. Unknown ones are ignored.
   *
   * @param streamsLists whether the feature gate WatchList is on
   */
  invalidOptions(query: URLSearchParams, streamsLists: boolean): readonly InvalidOption[] {
    const match = query.get(RESOURCE_VERSION_MATCH) ?? '';
    const watches = query.get('watch') === 'true' || query.get('watch') === '1';
    const initialEvents = this.minor >= 27 ? query.get(SEND_INITIAL_EVENTS) : null;
    const problems: InvalidOption[] = [];
    const forbid = (field: string, problem: string): void =>
      void problems.push({ field, message: `Forbidden: ${field} ${problem}` });
    if (watches && this.minor < 27) {
      if (match !== '') forbid(RESOURCE_VERSION_MATCH, 'is forbidden for watch');
    } else if (watches) {
      if (initialEvents !== null && !streamsLists)
        forbid(SEND_INITIAL_EVENTS, 'is forbidden for watch unless the WatchList feature gate is enabled');
      if (match !== '' && initialEvents === null)
        forbid(RESOURCE_VERSION_MATCH, 'is forbidden for watch unless sendInitialEvents is provided');
      if (match !== 'NotOlderThan' && initialEvents !== null)
        problems.push({
          field: RESOURCE_VERSION_MATCH,
          message: `Forbidden: ${SEND_INITIAL_EVENTS} requires setting ${RESOURCE_VERSION_MATCH} to NotOlderThan`,
        });
    } else if (initialEvents !== null) forbid(SEND_INITIAL_EVENTS, 'is forbidden for list');
    if (match !== '' && !watches && !query.get('resourceVersion'))
      forbid(RESOURCE_VERSION_MATCH, 'is forbidden unless resourceVersion is provided');
    if (match !== '' && query.get('continue'))
      forbid(RESOURCE_VERSION_MATCH, 'is forbidden when continue is provided');
    return problems;
  }

  /** The object with the fields that this release has. */
  view(object: ApiObject): ApiObject {
    const unknown = (FIELDS[object.kind] ?? []).filter(([, since]) => this.minor < since);
    if (unknown.length === 0) return object;
    let view = this.objects.get(object);
    if (!view) {
      view = unknown.reduce<ApiObject>((rest, [path]) => without(rest, path.split('.')) as ApiObject, object);
      this.objects.set(object, view);
    }
    return view;
  }
}

function without(value: unknown, [field = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((member) => without(member, [field, ...rest]));
  if (typeof value !== 'object' || value === null || !(field in value)) return value;
  const { [field]: inner, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...others, [field]: without(inner, rest) };
}
