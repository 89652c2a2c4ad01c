/**
 * Connections that are open, by their sources. Where there is no room for one more, one without a request in progress is ended for
 * it, the longest unused first: of its own source if that has its most, otherwise of the source that has the most of them.
 */
export class ConnectionPool<Connection> {
  /** The requests in progress of each connection, the longest unused first. */
  private readonly sources = new Map<string, Map<Connection, number>>();
  private readonly sourceOf = new Map<Connection, string>();

  constructor(
    private readonly most: number,
    private readonly mostOfSource: number,
    private readonly end: (connection: Connection) => void,
  ) {}

  /** How many there are. */
  get size(): number {
    return this.sourceOf.size;
  }

  /** Whether it has no request in progress, so that it may be ended for another. */
  isIdle(connection: Connection): boolean {
    return (this.among(connection)?.get(connection) ?? 0) === 0;
  }

  /** Whether one of this source can be taken in without ending another. */
  hasRoom(source: string): boolean {
    return this.size < this.most && (this.sources.get(source)?.size ?? 0) < this.mostOfSource;
  }

  /** Takes a connection in. False where no other could be ended for it. */
  enter(source: string, connection: Connection): boolean {
    if (!this.hasRoom(source) && !this.makeRoom(source)) return false;
    const siblings = this.sources.get(source) ?? new Map<Connection, number>();
    this.sources.set(source, siblings.set(connection, 0));
    this.sourceOf.set(connection, source);
    return true;
  }

  /** The connection has a request. */
  began(connection: Connection): void {
    const siblings = this.among(connection);
    siblings?.set(connection, siblings.get(connection)! + 1);
  }

  /** The request has its answer. */
  finished(connection: Connection): void {
    const siblings = this.among(connection);
    if (!siblings) return;
    const left = siblings.get(connection)! - 1;
    siblings.delete(connection);
    siblings.set(connection, left);
  }

  /** The connection has ended. Idempotent. */
  leave(connection: Connection): void {
    const source = this.sourceOf.get(connection);
    if (source === undefined) return;
    this.sourceOf.delete(connection);
    const siblings = this.sources.get(source)!;
    siblings.delete(connection);
    if (siblings.size === 0) this.sources.delete(source);
  }

  private makeRoom(source: string): boolean {
    const own = this.sources.get(source);
    if (own && own.size >= this.mostOfSource) return this.endIdle(own);
    const bySize = [...this.sources.values()].sort((a, b) => b.size - a.size);
    return bySize.some((connections) => this.endIdle(connections));
  }

  private endIdle(connections: ReadonlyMap<Connection, number>): boolean {
    for (const [connection, requests] of connections) {
      if (requests > 0) continue;
      this.leave(connection);
      this.end(connection);
      return true;
    }
    return false;
  }

  private among(connection: Connection): Map<Connection, number> | undefined {
    return this.sources.get(this.sourceOf.get(connection) ?? '');
  }
}
