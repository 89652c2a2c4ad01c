import {
  lostFrontends,
  type ForwardingEntry,
  type Frontend,
  frontendName,
} from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, servicePortName, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { ApplyResult } from '../ports/backend.js';
import { compactTexts, heldFrontendsText } from '../words.js';
import type { DegradedStatus, HeldFrontend } from './port-status.js';
import type { FrontendConflict } from '../../domain/reconcile/claims.js';

/** How service ports are programmed otherwise than requested: other Services own frontends, the backend has notes, the node lacks something. */
export class Deviations {
  /** Those that the backend reports, as where rules that the kernel rejects stay as they were. */
  private readonly conflicts = new FrontendConflicts();
  /** The backend's notes on single service ports. */
  private readonly notes = new Map<ServicePortKey, string>();
  /** What service ports lack besides rules. */
  private readonly lacks = new Map<ServicePortKey, string>();

  /** @param table the owner of each frontend */
  constructor(private readonly table: Pick<ForwardingTable, 'ownerOf' | 'reservedFor'>) {}

  /** Whether the backend reports nothing, and nothing is lacking. */
  get isEmpty(): boolean {
    return this.conflicts.isEmpty && this.notes.size === 0 && this.lacks.size === 0;
  }

  /** Replaces what the backend reports. Returns the service ports whose status may have changed, others included. */
  update(
    keys: readonly ServicePortKey[],
    { conflicts, notes = [] }: Pick<ApplyResult, 'conflicts' | 'notes'>,
  ): ReadonlySet<ServicePortKey> {
    for (const key of keys) this.notes.delete(key);
    for (const { key, note } of notes) this.notes.set(key, note);
    return this.conflicts.update(keys, conflicts);
  }

  /** Something that the service port needs besides its rules is not there; undefined: it is. */
  lacking(key: ServicePortKey, problem: string | undefined): void {
    if (problem === undefined) this.lacks.delete(key);
    else this.lacks.set(key, problem);
  }

  /** Undefined if the service port is programmed as requested. */
  of(key: ServicePortKey, entry: ForwardingEntry | undefined): Deviation | undefined {
    const lost = entry ? lostFrontends(entry) : [];
    const reported = this.conflicts.lostBy(key);
    const lack = this.lacks.get(key);
    const texts = compactTexts(this.notes.get(key), lack);
    if (lost.length + reported.length + texts.length === 0) return undefined;
    const ownerOf = ({ address, port }: Frontend): HeldFrontend => {
      const { protocol } = entry!.name;
      const frontend = frontendName(address, port, protocol);
      const place = { ...(address !== undefined && { address }), port };
      const owner = this.table.ownerOf(protocol, place);
      const reserved = owner === undefined ? this.table.reservedFor(protocol, place) : undefined;
      return reserved === undefined
        ? { frontend, ...ownerNames(owner ?? key) }
        : { frontend, holder: reserved };
    };
    const others = reported.map(({ frontend, owner }) => ({ frontend, ...ownerNames(owner) }));
    return {
      held: () => [...lost.map(ownerOf), ...others],
      texts,
      ...(lack !== undefined && { limitedBy: 'node' }),
    };
  }
}

/** How a service port is programmed otherwise than requested. */
interface Deviation extends Pick<DegradedStatus, 'limitedBy'> {
  /** The frontends that others own, with their present owners. */
  held(): readonly HeldFrontend[];
  readonly texts: readonly string[];
}

/** Names the owners of frontends as they are when it is read: a new owner costs all others that request the frontend nothing. */
export function degradedStatus(since: string, { held, texts, ...rest }: Deviation): DegradedStatus {
  if (held().length === 0) return { state: 'degraded', since, reason: texts.join('; '), ...rest };
  return {
    state: 'degraded',
    since,
    get held() {
      return held();
    },
    get reason() {
      return [heldFrontendsText(held()), ...texts].join('; ');
    },
    ...rest,
  };
}

function ownerNames(owner: ServicePortKey): Pick<HeldFrontend, 'holder' | 'port'> {
  const { port } = servicePortName(owner);
  return { holder: serviceOf(owner), ...(port !== '' && { port }) };
}

/** A frontend that a service port lacks, and the one that has it. */
interface LostFrontend {
  readonly frontend: string;
  readonly owner: ServicePortKey;
}

/** A frontend that several service ports claim. */
interface Contest {
  holder: ServicePortKey;
  /** The next holder first. */
  readonly losers: Set<ServicePortKey>;
}

const NOTHING: readonly never[] = [];

/** Which service ports lack a frontend because another one holds it. An update costs what changed. */
export class FrontendConflicts {
  private readonly contests = new Map<string, Contest>();
  /** The contested frontends of each claimant, of holders and losers alike. */
  private readonly claims = new Map<ServicePortKey, Set<string>>();

  /** Whether every service port has its frontends. */
  get isEmpty(): boolean {
    return this.contests.size === 0;
  }

  /**
   * Replaces all conflicts in which the service ports are holders or losers. What a holder leaves, the first of its losers
   * holds from then on. Returns the service ports of which something else may be lost now, others included.
   */
  update(
    keys: Iterable<ServicePortKey>,
    conflicts: readonly FrontendConflict[],
  ): ReadonlySet<ServicePortKey> {
    const concerned = new Set<ServicePortKey>();
    // Usually there are no conflicts, and very many keys.
    for (const key of this.isEmpty ? NOTHING : keys)
      for (const frontend of [...(this.claims.get(key) ?? NOTHING)]) this.leave(key, frontend, concerned);
    for (const { frontend, holder, loser } of conflicts) {
      const contest = this.contests.get(frontend) ?? { holder, losers: new Set() };
      if (contest.holder !== holder) contest.losers.add(contest.holder);
      contest.holder = holder;
      contest.losers.delete(holder);
      this.contests.set(frontend, contest);
      // In the order in which they are reported.
      contest.losers.delete(loser);
      contest.losers.add(loser);
      for (const claimant of [holder, ...contest.losers]) {
        this.claims.set(claimant, (this.claims.get(claimant) ?? new Set<string>()).add(frontend));
        concerned.add(claimant);
      }
    }
    return concerned;
  }

  /** What the service port goes without; empty when it has all its frontends. */
  lostBy(key: ServicePortKey): readonly LostFrontend[] {
    return [...(this.claims.get(key) ?? NOTHING)].flatMap((frontend) => {
      const { holder } = this.contests.get(frontend)!;
      return holder === key ? [] : [{ frontend, owner: holder }];
    });
  }

  private leave(key: ServicePortKey, frontend: string, concerned: Set<ServicePortKey>): void {
    const contest = this.contests.get(frontend)!;
    for (const claimant of [contest.holder, ...contest.losers]) concerned.add(claimant);
    if (contest.holder === key) contest.holder = [...contest.losers][0]!;
    contest.losers.delete(key);
    contest.losers.delete(contest.holder);
    this.forget(key, frontend);
    if (contest.losers.size > 0) return;
    this.contests.delete(frontend);
    this.forget(contest.holder, frontend);
  }

  private forget(key: ServicePortKey, frontend: string): void {
    const frontends = this.claims.get(key)!;
    frontends.delete(frontend);
    if (frontends.size === 0) this.claims.delete(key);
  }
}
