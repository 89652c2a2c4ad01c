import {
  lostFrontends,
  type ForwardingEntry,
  type Frontend,
  frontendName,
} from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, servicePortName, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { ServiceNote } from '../ports/backend.js';
import { conflictReason, type ConflictingFrontend } from '../../domain/verdict/conflicts.js';
import { compactTexts } from '../words.js';
import type { DegradedStatus } from './port-status.js';

/** Differences between service ports as requested and as programmed: other Services own frontends, the backend has notes, the node lacks something. */
export class Deviations {
  /** The backend's notes on single service ports. */
  private readonly notes = new Map<ServicePortKey, string>();
  /** What service ports lack besides rules. */
  private readonly missing = new Map<ServicePortKey, string>();

  /** @param table the owner of each frontend */
  constructor(private readonly table: Pick<ForwardingTable, 'ownerOf' | 'reservedFor'>) {}

  /** Whether the backend reports nothing, and nothing is lacking. */
  get isEmpty(): boolean {
    return this.notes.size === 0 && this.missing.size === 0;
  }

  /** Replaces what the backend reports of these service ports. */
  update(keys: readonly ServicePortKey[], notes: readonly ServiceNote[]): void {
    for (const key of keys) this.notes.delete(key);
    for (const { key, note } of notes) this.notes.set(key, note);
  }

  /** Something that the service port needs besides its rules is not there; undefined: it is. */
  setMissing(key: ServicePortKey, problem: string | undefined): void {
    if (problem === undefined) this.missing.delete(key);
    else this.missing.set(key, problem);
  }

  /** Undefined if the service port is programmed as requested. */
  of(key: ServicePortKey, entry: ForwardingEntry | undefined): Deviation | undefined {
    const lost = entry ? lostFrontends(entry) : [];
    const lack = this.missing.get(key);
    const texts = compactTexts(this.notes.get(key), lack);
    if (lost.length + texts.length === 0) return undefined;
    const ownerOf = ({ address, port }: Frontend): ConflictingFrontend => {
      const { protocol } = entry!.name;
      const frontend = frontendName(address, port, protocol);
      const place = { ...(address !== undefined && { address }), port };
      const owner = this.table.ownerOf(protocol, place);
      const reserved = owner === undefined ? this.table.reservedFor(protocol, place) : undefined;
      return reserved === undefined
        ? { frontend, ...ownerNames(owner ?? key) }
        : { frontend, owner: reserved };
    };
    return {
      held: () => lost.map(ownerOf),
      hasNone: entry?.frontends.length === 0,
      texts,
      ...(lack !== undefined && { limitedBy: 'node' }),
    };
  }
}

/** How a programmed service port differs from the requested one. */
interface Deviation extends Pick<DegradedStatus, 'limitedBy'> {
  /** The frontends that others own, with their present owners. */
  held(): readonly ConflictingFrontend[];
  /** It owns no frontend. */
  readonly hasNone: boolean;
  readonly texts: readonly string[];
}

/** Names the owners of frontends as they are when it is read: a new owner costs all others that request the frontend nothing. */
export function degradedStatus(since: string, { held, hasNone, texts, ...rest }: Deviation): DegradedStatus {
  const limits = texts.length > 0 ? { limits: texts } : {};
  if (held().length === 0)
    return { state: 'degraded', sinceTime: since, reason: texts.join('; '), ...limits, ...rest };
  return {
    state: 'degraded',
    sinceTime: since,
    get conflicts() {
      return held();
    },
    get reason() {
      return [conflictReason(held(), hasNone), ...texts].join('; ');
    },
    ...limits,
    ...rest,
  };
}

function ownerNames(owner: ServicePortKey): Pick<ConflictingFrontend, 'owner' | 'portName'> {
  const { port } = servicePortName(owner);
  return { owner: serviceOf(owner), ...(port !== '' && { portName: port }) };
}
