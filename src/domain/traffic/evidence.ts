/** So many connections in a row without an answer, and an endpoint counts as silent. */
export const SILENT_AFTER = 3;

/** A connection that waited for longer than it may. */
export interface UnansweredConnection {
  readonly begun: number;
  /** A number of its client's address; two clients have the same one only by accident. */
  readonly client: number;
}

/** What the last new connections to an endpoint tell of it: whether it answers at all. Times are of the steady clock. */
export interface Evidence {
  /**
   * Those that waited for longer than they may, the oldest first: the last SILENT_AFTER of them at most, and none from before
   * the last answer.
   */
  readonly unanswered: readonly UnansweredConnection[];
  /** When one was answered last; undefined if none was since the counting began. A refusal is an answer. */
  readonly answered: number | undefined;
}

/** Evidence as it comes in. */
export class GatheredEvidence implements Evidence {
  readonly unanswered: UnansweredConnection[] = [];
  answered: number | undefined;

  /** A connection was answered. */
  heard(now: number): void {
    this.answered = now;
    this.unanswered.length = 0;
  }

  /** A connection has waited for too long. Nothing follows from one that is older than an answer. */
  missed(connection: UnansweredConnection): void {
    if (this.answered !== undefined && connection.begun <= this.answered) return;
    this.unanswered.push(connection);
    if (this.unanswered.length > SILENT_AFTER) this.unanswered.shift();
  }
}
