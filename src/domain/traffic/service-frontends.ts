import { isTranslated, type SeenFlow } from '../conntrack/flow.js';
import { frontendAddress, FrontendOwners, NODE_PORT } from '../conntrack/frontend-map.js';
import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import type { Protocol, ServicePortKey } from '../model/service-port-name.js';
import type { IpFamily } from '../net/ip-family.js';
import { getOrMake } from '../model/maps.js';

/** Identifies a service port among those of both families. */
export type FamilyPortKey = `${IpFamily} ${ServicePortKey}`;

export function familyPortKey({ family, key }: Pick<ForwardingEntry, 'family' | 'key'>): FamilyPortKey {
  return `${family} ${key}`;
}

type Owners = FrontendOwners<ForwardingEntry>;

/** Which service port a connection belongs to, by where its client sent it. */
export class ServiceFrontends {
  private readonly present = new Map<FamilyPortKey, ForwardingEntry>();
  private readonly owners = new Map<`${IpFamily} ${Protocol}`, Owners>();
  private localAddresses: ReadonlySet<string> = new Set();

  /** The entry of a service port; undefined when it is gone. */
  entry(key: FamilyPortKey): ForwardingEntry | undefined {
    return this.present.get(key);
  }

  entries(): Iterable<ForwardingEntry> {
    return this.present.values();
  }

  /**
   * Takes over all forwarding entries as they are now. Entries are values: one that is the same object costs one comparison.
   * @param localAddresses where node ports are
   */
  follow(entries: Iterable<ForwardingEntry>, localAddresses: Iterable<string>): void {
    this.localAddresses = new Set(localAddresses);
    const gone = new Set(this.present.keys());
    for (const entry of entries) {
      const key = familyPortKey(entry);
      gone.delete(key);
      const former = this.present.get(key);
      if (former === entry) continue;
      if (former) this.disown(former);
      this.present.set(key, entry);
      this.own(entry);
    }
    for (const key of gone) {
      this.disown(this.present.get(key)!);
      this.present.delete(key);
    }
  }

  /** Undefined for a connection that no Service translated. */
  ownerOf(flow: SeenFlow): ForwardingEntry | undefined {
    const owners = this.owners.get(`${flow.family} ${flow.protocol}`);
    const port = flow.destinationPort;
    if (!owners?.hasPort(port)) return undefined;
    const { destination } = flow;
    const claimants = owners.get(port, destination) ?? this.nodePortOwners(owners, port, destination);
    if (claimants.length === 0 || !isTranslated(flow)) return undefined;
    // Of several claims the first by key counts.
    return claimants.reduce((one, other) => (other.key < one.key ? other : one));
  }

  private nodePortOwners(owners: Owners, port: number, destination: string): readonly ForwardingEntry[] {
    const found = owners.get(port, NODE_PORT);
    return found && this.localAddresses.has(destination) ? found : [];
  }

  private own(entry: ForwardingEntry): void {
    const owners = this.ownersLike(entry);
    for (const frontend of entry.frontends) owners.own(frontendAddress(frontend), entry);
  }

  private disown(entry: ForwardingEntry): void {
    const owners = this.ownersLike(entry);
    for (const frontend of entry.frontends) owners.disown(frontendAddress(frontend), entry);
  }

  private ownersLike({ family, name }: ForwardingEntry): Owners {
    return getOrMake(this.owners, `${family} ${name.protocol}`, (): Owners => new FrontendOwners());
  }
}
