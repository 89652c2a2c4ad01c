import type { RealServerKey, VirtualServerKey } from '../../../domain/ipvs/virtual-server.js';

const NONE: ReadonlyMap<RealServerKey, number> = new Map();

/** Which real servers drain, by virtual server, and since when, in milliseconds since 1970. */
export class Draining {
  private readonly begun = new Map<VirtualServerKey, Map<RealServerKey, number>>();

  get isEmpty(): boolean {
    return this.begun.size === 0;
  }

  /** The virtual servers that have some. */
  servers(): readonly VirtualServerKey[] {
    return [...this.begun.keys()];
  }

  of(server: VirtualServerKey): ReadonlyMap<RealServerKey, number> {
    return this.begun.get(server) ?? NONE;
  }

  /** One that drains already goes on from where it began. */
  begin(server: VirtualServerKey, real: RealServerKey, now: number): void {
    const begun = this.begun.get(server) ?? new Map<RealServerKey, number>();
    if (!begun.has(real)) begun.set(real, now);
    this.begun.set(server, begun);
  }

  end(server: VirtualServerKey, real: RealServerKey): void {
    const begun = this.begun.get(server);
    if (begun?.delete(real) && begun.size === 0) this.begun.delete(server);
  }

  /** The virtual server is gone, and all that drained with it. */
  forget(server: VirtualServerKey): void {
    this.begun.delete(server);
  }
}
