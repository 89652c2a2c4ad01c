/** How long a connection may wait for its first answer before it counts as unanswered, in milliseconds. */
const ANSWER_TIME = 1_000;

/** A connection that is being counted. */
export interface CountedFlow {
  readonly endpoint: EndpointTraffic;
  readonly hash: number;
  /** As in `SeenFlow`. */
  readonly client: number;
  /** When it was first seen, in milliseconds. */
  readonly since: number;
  /** It never goes back. */
  stage: 'waiting' | 'answered' | 'closed';
  /** Its beginning was seen. */
  begun: boolean;
  /** It has waited for longer than ANSWER_TIME. */
  overdue: boolean;
  /** In both directions, as last seen; undefined while unknown. What came before is not counted. */
  bytes: number | undefined;
  /** The last listing of the kernel's table that contains it. */
  walk: number;
}

/** Totals since the counting began, of all connections: those of a sample stand for those left out. */
export interface TrafficTotals {
  readonly connections: number;
  /** Connections that ended without an answer. */
  readonly failed: number;
  readonly bytes: number;
}

/** Totals that grow. */
export class GrowingTotals implements TrafficTotals {
  connections = 0;
  failed = 0;
  bytes = 0;

  /** @param sum what grows with them */
  constructor(private readonly sum?: GrowingTotals) {}

  add(what: keyof TrafficTotals, amount: number): void {
    this[what] += amount;
    this.sum?.add(what, amount);
  }
}

/** The connections to one endpoint of a service port. The numbers are those of the sample; totals are of all. */
export class EndpointTraffic {
  readonly totals: GrowingTotals;
  /** Waiting for an answer, or answered and not closed. */
  open = 0;
  /** Waiting for longer than ANSWER_TIME. */
  overdue = 0;
  /** Connections that are known, closed ones included. */
  known = 0;
  /** Of connections whose beginning was seen. */
  readonly evidence = new GatheredEvidence();
  /** Waiting, but not for too long, in the order in which they were seen. */
  private readonly fresh = new Set<CountedFlow>();
  private unansweredInARow = 0;

  /** @param ofPort the totals of the service port that it serves */
  constructor(ofPort: GrowingTotals) {
    this.totals = new GrowingTotals(ofPort);
  }

  /** None of the last three or more connections got an answer. A rejected connection counts as unanswered here. */
  get unresponsive(): boolean {
    return this.unansweredInARow >= UNRESPONSIVE_AFTER;
  }

  /** Since when connections wait by which it may turn out to be unresponsive; undefined if there are too few, or it is so already. */
  get waitingSince(): number | undefined {
    if (this.unresponsive || this.unansweredInARow + this.fresh.size < UNRESPONSIVE_AFTER) return undefined;
    const [oldest] = this.fresh;
    return oldest?.since;
  }

  enter(flow: CountedFlow): void {
    this.known++;
    if (flow.stage !== 'closed') this.open++;
    if (flow.stage === 'waiting') this.fresh.add(flow);
    else if (flow.begun) this.heard(flow.since);
  }

  /** Its beginning was seen, perhaps after a walk had found it answered, or already closed. */
  began(flow: CountedFlow, now: number): void {
    if (!flow.begun && flow.stage !== 'waiting') this.heard(now);
    flow.begun = true;
  }

  answered(flow: CountedFlow, now: number): void {
    if (flow.stage !== 'waiting') return;
    this.stopWaiting(flow);
    this.heard(now);
    flow.stage = 'answered';
  }

  /**
   * TCP has closed it; one that was waiting was rejected.
   * @param weight how many connections it stands for
   */
  closed(flow: CountedFlow, weight: number, now: number): void {
    if (flow.stage === 'waiting') this.evidence.heard(now);
    this.close(flow, weight);
  }

  /** The kernel no longer tracks it. */
  ended(flow: CountedFlow, weight: number): void {
    this.close(flow, weight);
    this.known--;
  }

  /** It is no longer to be counted, but still exists. */
  forget(flow: CountedFlow): void {
    this.known--;
    if (flow.stage === 'waiting') this.stopWaiting(flow);
    if (flow.stage !== 'closed') this.open--;
  }

  /** Finds the connections that have waited for too long by now. */
  watchTheTime(now: number): void {
    for (const flow of this.fresh) {
      if (now - flow.since < ANSWER_TIME) return;
      this.fresh.delete(flow);
      flow.overdue = true;
      this.overdue++;
      // One that was there before the counting may be older than others, which are answered.
      if (flow.begun) this.evidence.missed({ begun: flow.since, client: flow.client });
      if (flow.begun || this.open === this.overdue + this.fresh.size) this.unansweredInARow++;
    }
  }

  private heard(now: number): void {
    this.unansweredInARow = 0;
    this.evidence.heard(now);
  }

  private close(flow: CountedFlow, weight: number): void {
    if (flow.stage === 'closed') return;
    if (flow.stage === 'waiting') this.failed(flow, weight);
    this.open--;
    flow.stage = 'closed';
  }

  private failed(flow: CountedFlow, weight: number): void {
    this.totals.add('failed', weight);
    if (!flow.overdue) this.unansweredInARow++;
    this.stopWaiting(flow);
  }

  private stopWaiting(flow: CountedFlow): void {
    if (flow.overdue) this.overdue--;
    else this.fresh.delete(flow);
    flow.overdue = false;
  }
}

/** An endpoint counts as unresponsive after this number of connections in a row without an answer. */
export const UNRESPONSIVE_AFTER = 3;

/** A connection that waited for longer than it may. */
export interface UnansweredConnection {
  readonly begun: number;
  /** A number of its client's address; two clients have the same one only by accident. */
  readonly client: number;
}

/** The evidence of the last new connections to an endpoint about whether it answers. Times are of the steady clock. */
export interface Evidence {
  /**
   * Those that waited for longer than they may, the oldest first: the last UNRESPONSIVE_AFTER of them at most, and none from before
   * the last answer.
   */
  readonly unanswered: readonly UnansweredConnection[];
  /** When one was answered last; undefined if none was since the counting began. A rejection is an answer. */
  readonly answered: number | undefined;
}

/** Evidence as it comes in. */
class GatheredEvidence implements Evidence {
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
    if (this.unanswered.length > UNRESPONSIVE_AFTER) this.unanswered.shift();
  }
}
