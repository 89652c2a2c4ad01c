import { getOrMake } from '../../../src/domain/model/get-or-make.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ApiObject, Change } from '../../support/api-server/object-store.js';
import { isMarkedInvalid } from '../cluster/marked-invalid.js';
import { expectedPorts, type ExpectedNode, type ExpectedPort } from './expected-ports.js';

const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
const OF_SERVICE = 'kubernetes.io/service-name';

/** What was there of one Service since the program was last known to have everything, oldest first. */
/** By name. */
type Slices = ReadonlyMap<string, ApiObject>;

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
  private readonly possible = new Map<string, readonly (readonly ExpectedPort[])[]>();
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

  /** Lists come page by page, a while apart, and what a page has is known with it. */
  private isPaged = false;

  /** From now on, until all is quiet. */
  comesInPages(): void {
    this.isPaged = true;
    this.possible.clear();
    this.version++;
  }

  /** Another one each time when something else may be asked for. */
  version = 0;

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
    const known = this.possible.get(service);
    if (known) return known;
    const { services, slices } = this.pasts.get(service)!;
    const states = new Map<string, readonly ExpectedPort[]>();
    for (const node of this.nodes)
      for (const object of services)
        for (const state of this.isPaged ? [...slices, ...inPages(slices)] : slices) {
          const ports = expectedPorts(object, [...state.values()], node, this.families);
          states.set(JSON.stringify(ports), ports);
        }
    const found = [...states.values()];
    this.possible.set(service, found);
    return found;
  }

  /** What is asked for the Service by its last state. */
  current(service: string): readonly ExpectedPort[] {
    return getOrMake(this.present, service, () => {
      const { services, slices } = this.pasts.get(service)!;
      return expectedPorts(services.at(-1), [...slices.at(-1)!.values()], this.ofNode, this.families);
    });
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
    this.isPaged = false;
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

/** What is known of slices when some pages of a list have arrived, in the order of names, and those after them are as they were before. */
function inPages(slices: readonly Slices[]): readonly Slices[] {
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
