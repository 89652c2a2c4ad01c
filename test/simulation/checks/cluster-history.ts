import { getOrMake } from '../../../src/domain/model/maps.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ApiObject, Change } from '../../support/api-server/object-store.js';
import { isMarkedInvalid } from '../cluster/marked-invalid.js';
import { expectedPorts, type ExpectedNode, type ExpectedPort } from './expected-ports.js';
import { claimsIn, ownersOf } from './probes.js';

const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
const OF_SERVICE = 'kubernetes.io/service-name';

/** By name. */
type Slices = ReadonlyMap<string, ApiObject>;

/**
 * The states of a Service that the program may know, by what leads from one to the next: it hears of Nodes, of Services and of slices each
 * in the order in which they were written, so that it goes from a state only to one that is later in some of these ways, and earlier in
 * none.
 */
export interface Course {
  /** So many there were of the node, of the Service, and of its slices. */
  readonly lengths: readonly [number, number, number];
  /** For each of the node's each of the Service's, for each of these each of the slices': which of `states` it is. */
  readonly states: readonly number[];
}

/** What may be asked for a Service. */
interface Possible {
  readonly states: readonly (readonly ExpectedPort[])[];
  readonly course: Course;
}

/** What was there of one Service since the program was last known to have everything, oldest first. */
interface Past {
  services: (ApiObject | undefined)[];
  /** Each state of its slices. */
  slices: Slices[];
}

/**
 * What the program may know of the cluster. Until it is settled, it may have any state of a Service that was there since, with
 * any state of its slices, because these arrive on their own ways. After that only the last.
 */
export class ClusterHistory {
  private readonly pasts = new Map<string, Past>();
  private readonly possible = new Map<string, Possible>();
  private readonly present = new Map<string, readonly ExpectedPort[]>();
  /** Keys of Services about which something was written since everything was settled. */
  private touched = new Set<string>();

  /** Each state of the node, as the program may know it. */
  private nodes: readonly ExpectedNode[];

  constructor(
    node: ExpectedNode,
    private readonly families: readonly IpFamily[],
  ) {
    this.nodes = [node];
  }

  /** The node as its Node object has it. */
  get ofNode(): ExpectedNode {
    return this.nodes.at(-1)!;
  }

  /** The Node object has another address. */
  renumber(family: IpFamily, address: string): void {
    this.nodes = this.nodes.map((node) => ({
      ...node,
      addresses: { ...node.addresses, [family]: address },
    }));
    this.nodeChanged();
  }

  /** Its Node object has something else in it: other networks are of local pods, or it is in another zone. */
  nodeIs(change: Partial<Pick<ExpectedNode, 'localNetworks' | 'zone'>>): void {
    this.nodes = [...this.nodes, { ...this.ofNode, ...change }];
    this.touched = new Set(this.pasts.keys());
    this.nodeChanged();
  }

  /** How many writes there were. */
  writes = 0;

  /**
   * Lists come piece by piece: by small pages, or by streams in small pieces. What a piece has is known with it, and programmed: the
   * program delivers objects as they arrive.
   */
  private inPieces: 'no' | 'until quiet' | 'for good' = 'no';

  /** Another one each time when something else may be asked for. */
  version = 0;

  /** How often the program was known to have everything. */
  settlements = 0;

  private ownedAt: { readonly version: number; readonly owned: readonly ExpectedPort[] } | undefined;

  /** Since then an API server was behind what it had shown: a process that begins may be told less than the one before it knew. */
  private mayBeginBehind = false;

  /** A process that begins may know less than the one before it from now on. */
  beginsBehind(): void {
    this.mayBeginBehind = true;
  }

  /** Lists come so from now on. */
  comesInPieces(until: 'until quiet' | 'for good'): void {
    if (this.inPieces !== 'for good') this.inPieces = until;
    this.possible.clear();
    this.version++;
  }

  /** Follows a write to the storage of the API server. */
  readonly follow = ({ collection, before, after, removed }: Change): void => {
    this.writes++;
    // What was valid last stays in force.
    if (isMarkedInvalid(after)) return;
    if (collection === SERVICES) {
      const past = this.past(`${after.metadata.namespace}/${after.metadata.name}`);
      past.services.push(removed ? undefined : after);
    } else if (collection === SLICES) {
      const owner = ownerOf(after);
      const former = before && ownerOf(before);
      if (former !== undefined && former !== owner) this.keepSlice(former, after, false);
      this.keepSlice(owner, after, !removed);
    }
  };

  private keepSlice(owner: string, slice: ApiObject, isThere: boolean): void {
    const past = this.past(owner);
    const next = new Map(past.slices.at(-1));
    if (isThere) next.set(slice.metadata.name, slice);
    else next.delete(slice.metadata.name);
    past.slices.push(next);
  }

  get services(): readonly string[] {
    return [...this.pasts.keys()];
  }

  isTouched(service: string): boolean {
    return this.touched.has(service);
  }

  /** What may be asked for the Service: one list of ports for each state that the program may know. */
  states(service: string): readonly (readonly ExpectedPort[])[] {
    return this.possibleOf(service).states;
  }

  /** How the program comes to know these states, where it never goes back. */
  course(service: string): Course {
    return this.possibleOf(service).course;
  }

  /**
   * Whether the program may know less of a Service than a moment before: lists come in pieces, or from a server that is behind.
   * @param process whether it is still the one that had everything last
   */
  mayGoBack(process: 'same' | 'other'): boolean {
    return this.inPieces !== 'no' || (this.mayBeginBehind && process === 'other');
  }

  private possibleOf(service: string): Possible {
    return getOrMake(this.possible, service, () => {
      const { services, slices } = this.pasts.get(service)!;
      const known = this.inPieces === 'no' ? slices : [...slices, ...betweenPieces(slices)];
      const numbers = new Map<string, number>();
      const states: (readonly ExpectedPort[])[] = [];
      const inCourse: number[] = [];
      for (const node of this.nodes)
        for (const object of services)
          for (const state of known) {
            const ports = expectedPorts(object, [...state.values()], node, this.families);
            const number = getOrMake(numbers, JSON.stringify(ports), () => states.push(ports) - 1);
            inCourse.push(number);
          }
      const lengths = [this.nodes.length, services.length, known.length] as const;
      return { states, course: { lengths, states: inCourse } };
    });
  }

  /** What is asked for the Service by its last state. */
  current(service: string): readonly ExpectedPort[] {
    return getOrMake(this.present, service, () => {
      const { services, slices } = this.pasts.get(service)!;
      return expectedPorts(services.at(-1), [...slices.at(-1)!.values()], this.ofNode, this.families);
    });
  }

  /** What is asked for all Services by their last states. */
  get ports(): readonly ExpectedPort[] {
    return this.services.flatMap((service) => this.current(service));
  }

  /** The same without the frontends that another Service has (docs/behavior/differences.md). */
  get owned(): readonly ExpectedPort[] {
    const { ports, version } = this;
    if (this.ownedAt?.version !== version) {
      const owned = ports.map((port) => ({
        ...port,
        frontends: port.frontends.filter(
          (frontend) => ownersOf(claimsIn(ports, frontend, port), frontend)[0] === port,
        ),
      }));
      this.ownedAt = { version, owned };
    }
    return this.ownedAt.owned;
  }

  /** The program has everything now. */
  settle(): void {
    for (const [service, past] of this.pasts) {
      if (past.services.at(-1) === undefined && past.slices.at(-1)!.size === 0) {
        this.pasts.delete(service);
        continue;
      }
      past.services = past.services.slice(-1);
      past.slices = past.slices.slice(-1);
    }
    this.nodes = this.nodes.slice(-1);
    if (this.inPieces === 'until quiet') this.inPieces = 'no';
    this.mayBeginBehind = false;
    this.settlements++;
    this.touched = new Set();
    this.nodeChanged();
  }

  private nodeChanged(): void {
    this.possible.clear();
    this.present.clear();
    this.version++;
  }

  private past(service: string): Past {
    this.touched.add(service);
    this.version++;
    this.possible.delete(service);
    this.present.delete(service);
    let past = this.pasts.get(service);
    if (!past) this.pasts.set(service, (past = { services: [undefined], slices: [new Map()] }));
    return past;
  }
}

/** What is known of slices when some pieces of a list have arrived, in the order of names, and those after them are as they were before. */
function betweenPieces(slices: readonly Slices[]): readonly Slices[] {
  const names = [...new Set(slices.flatMap((state) => [...state.keys()]))].sort();
  return slices.flatMap((before, index) =>
    slices.slice(index + 1).flatMap((after) =>
      names.slice(1).map((next) => {
        const known = names.flatMap((name) => {
          const slice = (name < next ? after : before).get(name);
          return slice ? [[name, slice] as const] : [];
        });
        return new Map(known);
      }),
    ),
  );
}

/** The Services that a write is about; none where it is about something else. */
export function servicesOf({ collection, before, after }: Change): readonly string[] {
  if (collection === SERVICES) return [`${after.metadata.namespace}/${after.metadata.name}`];
  if (collection !== SLICES) return [];
  return [...new Set([ownerOf(after), ...(before ? [ownerOf(before)] : [])])];
}

function ownerOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.labels?.[OF_SERVICE] ?? ''}`;
}
