/** Whether the proxy answers. */
export interface ConnectionState {
  readonly connected: boolean;
  /** Since when, in milliseconds since the epoch. */
  readonly since: number;
}

/** What is known of the connection from the last request of any view. */
export class Connection {
  private state: ConnectionState;
  private readonly listeners = new Set<(state: ConnectionState) => void>();

  constructor(private readonly now: () => number) {
    this.state = { connected: true, since: now() };
  }

  get current(): ConnectionState {
    return this.state;
  }

  /** Calls the listener at each change; the returned function ends that. */
  follow(listener: (state: ConnectionState) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** A request was answered, whatever the answer, or it was not. */
  heard(connected: boolean): void {
    if (this.state.connected === connected) return;
    this.state = { connected, since: this.now() };
    for (const listener of this.listeners) listener(this.state);
  }
}

/** The one of this page. */
export const connection = new Connection(() => Date.now());
