import type { IpvsDesiredState } from '../../domain/ipvs/desired-state.js';
import type { IpvsChange } from '../../domain/ipvs/ipvs-change.js';
import type { IpvsPart } from '../../domain/ipvs/service-port-rules.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { HeldPart } from '../../domain/reconcile/held-parts.js';
import type { KernelTables } from './tables/kernel-tables.js';

/**
 * What service ports had, and the kernel still has although nobody wants it: its removal was refused, or not tried. The desired state
 * has forgotten it, so it is remembered here whose it was: that service port fails until it is gone.
 */
export class Remains {
  private parts: readonly HeldPart<IpvsPart>[] = [];

  constructor(
    private readonly tables: KernelTables,
    private readonly desired: IpvsDesiredState,
  ) {}

  get areNone(): boolean {
    return this.parts.length === 0;
  }

  /** The service port that had this virtual server, address or member. */
  ownerOf(what: string): ServicePortKey | undefined {
    return this.parts.find(({ part }) => thingsOf(part).includes(what))?.owner;
  }

  /** Has what remains of the service ports that change removed again. */
  addTo(change: IpvsChange): void {
    for (const held of this.parts) if (change.servicePorts.has(held.owner)) change.add(held);
  }

  /** To be called when the change was written, as far as that went. */
  update(change: IpvsChange): void {
    const all = new Set([...this.parts, ...change.parts]);
    this.parts = [...all].filter(({ part }) => thingsOf(part).some((what) => this.isLeft(what)));
  }

  private isLeft(what: string): boolean {
    return this.tables.hasRemovable(what) && this.desired.owners(what).length === 0;
  }
}

/** Its virtual server, address and members. */
function thingsOf({ key, served, bound, members }: IpvsPart): readonly string[] {
  return [...(served ? [key] : []), ...(bound === undefined ? [] : [bound]), ...members];
}
