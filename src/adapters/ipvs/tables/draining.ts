import type { RealServerKey, VirtualServerKey } from '../../../domain/ipvs/virtual-server.js';

const NONE: ReadonlyMap<RealServerKey, number> = new Map();

/** The real servers that drain, by virtual server, and since when, in milliseconds since 1970. */
export class Draining {
  private readonly begun = new Map<VirtualServerKey, Map<RealServerKey, number>>();

  get isEmpty(): boolean {
    return this.begun.size === 0;
  }

  /** The virtual servers that have any. */
  servers(): readonly VirtualServerKey[] {
    return [...this.begun.keys()];
  }

  of(server: VirtualServerKey): ReadonlyMap<RealServerKey, number> {
    return this.begun.get(server) ?? NONE;
  }

  /** A real server that drains already keeps its time. */
  begin(server: VirtualServerKey, real: RealServerKey, now: number): void {
    const begun = this.begun.get(server) ?? new Map<RealServerKey, number>();
    if (!begun.has(real)) begun.set(real, now);
    this.begun.set(server, begun);
  }

  end(server: VirtualServerKey, real: RealServerKey): void {
    const begun = this.begun.get(server);
    if (begun?.delete(real) && begun.size === 0) this.begun.delete(server);
  }

  /** The virtual server is gone, with its real servers. */
  forget(server: VirtualServerKey): void {
    this.begun.delete(server);
  }
}
