interface Hold {
  readonly endpoint: string;
  usedAt: number;
}

/** Which endpoint (`ip:port`) each client (address) keeps. A hold ends when it was not used for a while. */
export class ClientAffinity {
  private readonly holds = new Map<string, Hold>();

  get size(): number {
    return this.holds.size;
  }

  /** The client's endpoint, whose time begins anew; undefined when it has none. Times in milliseconds. */
  use(client: string, now: number, seconds: number): string | undefined {
    const hold = this.holds.get(client);
    if (!hold || isOver(hold, now, seconds)) return undefined;
    hold.usedAt = now;
    return hold.endpoint;
  }

  hold(client: string, endpoint: string, now: number): void {
    this.holds.set(client, { endpoint, usedAt: now });
  }

  letGo(client: string): void {
    this.holds.delete(client);
  }

  /** Lets go of every endpoint that is not among these. */
  retain(endpoints: ReadonlySet<string>): void {
    for (const [client, { endpoint }] of this.holds) if (!endpoints.has(endpoint)) this.holds.delete(client);
  }

  /** Forgets the holds that are over. Costs what is held. */
  purge(now: number, seconds: number): void {
    for (const [client, hold] of this.holds) if (isOver(hold, now, seconds)) this.holds.delete(client);
  }

  clear(): void {
    this.holds.clear();
  }
}

/** Whole seconds count (docs/spec/userspace.md §2.3). */
function isOver({ usedAt }: Hold, now: number, seconds: number): boolean {
  return Math.floor((now - usedAt) / 1000) >= seconds;
}
