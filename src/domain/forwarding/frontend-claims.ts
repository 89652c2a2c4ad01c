import type { Protocol, ServicePortKey } from '../model/service-port-name.js';
import { Claims, type ClaimChange, type RankOf } from '../reconcile/claims.js';
import {
  findEntry,
  requestedFrontends,
  type ForwardingEntry,
  type Frontend,
  frontendName,
} from './forwarding-entry.js';
import type { ReservedFrontends } from './reserved-frontends.js';

/** Of two Services with one address and port, the first of these owns it. */
const KINDS: Readonly<Record<Frontend['kind'] | 'reserved', number>> = {
  'cluster-ip': 0,
  reserved: 1,
  'load-balancer-ip': 2,
  'external-ip': 3,
  'node-port': 4,
};

/** The owner of reserved frontends: no service port has such a key. */
const RESERVED: ServicePortKey = 'reserved';

/** Digits of a creation time in seconds: enough for the next thirty thousand years. */
const TIME_DIGITS = 12;
/** Sorts after every time. */
const NO_TIME = '~';

interface Entries {
  entry(key: ServicePortKey): ForwardingEntry | undefined;
  entries(): Iterable<ForwardingEntry>;
}

/**
 * Which service port owns each frontend of a family. Any user who may create a Service can request any external IP, so the kind of
 * the address counts first: a cluster IP, then a load-balancer IP, then an external IP. A reserved frontend belongs to no Service
 * but one whose cluster IP it is; the same holds for all ports of a reserved address. Of one kind a Service with endpoints comes
 * before one without, then the older one, then the first by namespace and name. A Service without a creation time counts as
 * younger than all others.
 */
export class FrontendClaims {
  private readonly claims = new Claims();
  private reserved: ReservedFrontends = NOTHING_RESERVED;

  /** @param table the entries of all claimants, as they are now */
  constructor(private readonly table: Entries) {}

  /**
   * Replaces the claims of a Service's ports. Costs what they request, however many others request the same.
   * @param former its entries before
   * @param entries those that `entryOf` returns now
   * @param affected gets the service ports of others to which a frontend came, or from which one went
   */
  replace(
    former: readonly ForwardingEntry[],
    entries: readonly ForwardingEntry[],
    affected: Set<ServicePortKey>,
  ): void {
    // Ranks count only where several service ports request the same.
    const isSame = (entry: ForwardingEntry, other: ForwardingEntry | undefined): boolean =>
      other !== undefined && !this.claims.isContested && areSame(entry, other);
    // Another port may get a frontend that one port releases.
    for (const entry of former) {
      const present = findEntry(entries, entry.key);
      if (isSame(entry, present)) continue;
      const kept = new Set(present ? namesOf(present) : []);
      for (const name of namesOf(entry))
        if (!kept.has(name)) noteOthers(entry.key, this.claims.release(name, entry.key), affected);
    }
    for (const entry of entries) {
      if (isSame(entry, findEntry(former, entry.key))) continue;
      for (const frontend of requestedFrontends(entry)) {
        const name = nameOf(entry, frontend);
        noteOthers(entry.key, this.claims.claim(name, entry.key, true, this.rankOf(name)), affected);
      }
    }
  }

  /**
   * Replaces the reserved frontends. Costs what is reserved, and what those request that request the same; with other reserved
   * addresses, a pass over all entries.
   * @param affected as in `replace`
   */
  reserve(reserved: ReservedFrontends | undefined, affected: Set<ServicePortKey>): void {
    const { reserved: before } = this;
    const after = reserved ?? NOTHING_RESERVED;
    if (after === before) return;
    this.reserved = after;
    const addresses = changedAddresses(before, after);
    if (addresses.size > 0)
      for (const entry of this.table.entries())
        if (requestedFrontends(entry).some(({ address }) => addresses.has(address ?? '')))
          affected.add(entry.key);
    for (const name of Object.keys(before))
      if (!Object.hasOwn(after, name)) noteOthers(RESERVED, this.claims.release(name, RESERVED), affected);
    for (const name of Object.keys(after)) {
      if (isAddress(name)) continue;
      noteOthers(RESERVED, this.claims.claim(name, RESERVED, true, this.rankOf(name)), affected);
    }
  }

  /** The reason why a frontend is reserved, for people; undefined if it is not. */
  reservedFor(protocol: Protocol, { address, port }: Pick<Frontend, 'address' | 'port'>): string | undefined {
    return this.reserved[frontendName(address, port, protocol)] ?? this.reserved[address ?? ''];
  }

  /** The entry with the frontends that it owns, of all that it requests. */
  granted(entry: ForwardingEntry): ForwardingEntry {
    const requested = requestedFrontends(entry);
    const owns = (frontend: Frontend): boolean =>
      (frontend.kind === 'cluster-ip' || this.reserved[frontend.address ?? ''] === undefined) &&
      (!this.claims.isContested || this.ownerOf(entry.name.protocol, frontend) === entry.key);
    if (!requested.every(owns)) return { ...entry, frontends: requested.filter(owns), requested };
    if (requested === entry.frontends) return entry;
    const { requested: frontends, ...rest } = entry;
    return { ...rest, frontends: frontends! };
  }

  /** The service port whose clients are served there; undefined if none is, as where it is reserved. */
  ownerOf(
    protocol: Protocol,
    { address, port }: Pick<Frontend, 'address' | 'port'>,
  ): ServicePortKey | undefined {
    const owner = this.claims.ownerOf(frontendName(address, port, protocol));
    if (owner === undefined || owner === RESERVED) return undefined;
    if (this.reserved[address ?? ''] === undefined) return owner;
    const [clusterIP] = requestedFrontends(this.table.entry(owner)!);
    return clusterIP?.address === address ? owner : undefined;
  }

  /** Sorts the claimants of a frontend. */
  private rankOf(frontend: string): RankOf {
    return (claimant) => {
      if (claimant === RESERVED) return String(KINDS.reserved);
      const entry = this.table.entry(claimant)!;
      const { kind, outcome } = requestedFrontends(entry).find((each) => nameOf(entry, each) === frontend)!;
      const { name, createdAt } = entry;
      const time = createdAt === undefined ? NO_TIME : String(createdAt).padStart(TIME_DIGITS, '0');
      const lacksEndpoints = outcome === 'reject' ? 1 : 0;
      return [KINDS[kind], lacksEndpoints, time, name.namespace, name.name].join('\0');
    };
  }
}

const NOTHING_RESERVED: ReservedFrontends = {};

function changedAddresses(before: ReservedFrontends, after: ReservedFrontends): ReadonlySet<string> {
  const changed = [...Object.keys(before), ...Object.keys(after)].filter(
    (name) => isAddress(name) && Object.hasOwn(before, name) !== Object.hasOwn(after, name),
  );
  return new Set(changed);
}

/** All others are names of frontends. */
function isAddress(name: string): boolean {
  return !name.includes('/');
}

/** Those whose frontend came or went, besides the one that changed. */
function noteOthers(
  key: ServicePortKey,
  { before, after }: ClaimChange,
  affected: Set<ServicePortKey>,
): void {
  if (before === after) return;
  for (const owner of [before, after])
    if (owner !== undefined && owner !== key && owner !== RESERVED) affected.add(owner);
}

function nameOf({ name }: ForwardingEntry, { address, port }: Frontend): string {
  return frontendName(address, port, name.protocol);
}

function namesOf(entry: ForwardingEntry): readonly string[] {
  return requestedFrontends(entry).map((frontend) => nameOf(entry, frontend));
}

function areSame(one: ForwardingEntry, other: ForwardingEntry): boolean {
  const frontends = requestedFrontends(one);
  const others = requestedFrontends(other);
  return (
    frontends.length === others.length &&
    frontends.every(
      ({ address, port }, index) => address === others[index]!.address && port === others[index]!.port,
    )
  );
}
