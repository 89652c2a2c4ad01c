/** Frontends that several service ports claim: the sentences about them. */

import type { PacketOutcome } from '../forwarding/forwarding-entry.js';
import { counted, edit, named, type NamedService } from './sentences.js';
import type { Verdict, VerdictState } from './verdict.js';

/** A frontend that a service port claims and another one holds. */
export interface ConflictingFrontend {
  /** As `frontendName` makes it: `10.96.0.10:53/UDP`. */
  readonly frontend: string;
  /** The Service that has it, as `namespace/name`; or what of the proxy's own is there, in words. */
  readonly owner: string;
  /** The name of the owner's port; missing for an unnamed one. */
  readonly portName?: string | undefined;
}

/** `belongs to shop/dns:udp`. */
export function ownerText({ owner, portName }: Pick<ConflictingFrontend, 'owner' | 'portName'>): string {
  return `belongs to ${owner}${portName === undefined ? '' : `:${portName}`}`;
}

/** The frontends of a service port that others have, the first few by name. @param hasNone no frontend is its own */
export function conflictReason(conflicts: readonly ConflictingFrontend[], hasNone: boolean): string {
  const texts = conflicts.map((one) => `${one.frontend} ${ownerText(one)}`);
  return `${hasNone ? 'all its frontends belong to other Services: ' : ''}${named(texts, '; ')}`;
}

/** @param hasNone as in `conflictReason` */
export function conflict(
  service: NamedService,
  conflicts: readonly ConflictingFrontend[],
  hasNone: boolean,
): Verdict {
  return {
    state: hasNone ? 'error' : 'warning',
    cause: 'FrontendConflict',
    reason: conflictReason(conflicts, hasNone),
    nextStep: `remove the address or port from one of the Services: ${edit(service)}`,
  };
}

/** A frontend that belongs to another service port. @param outcome of packets there */
export function conflictVerdict(
  owner: ConflictingFrontend,
  outcome: string | undefined,
  state: VerdictState,
  service: NamedService,
): Verdict {
  const reason = outcome === undefined ? ownerText(owner) : `${ownerText(owner)}, ${outcome}`;
  const nextStep = `remove the address or port from one of the Services: ${edit(service)}`;
  return { state, cause: 'FrontendConflict', reason, nextStep };
}

/** Where packets go to the frontend of another Service. @param places `ip:port` of its endpoints */
export function conflictOutcome(outcome: PacketOutcome, places: readonly string[]): string {
  switch (outcome) {
    case 'reject':
      return 'packets are rejected: it has no endpoint that can be used';
    case 'drop':
      return 'packets are dropped: its policy is Local, and no endpoint on the node is ready';
    case 'forward':
      return `packets go to ${places.length === 1 ? 'its endpoint' : `its ${counted(places.length, 'endpoint')}`} ${named(places)}`;
  }
}
