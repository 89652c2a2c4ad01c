import type {
  EventsRead,
  FlowEvents,
  FlowSink,
  TrackedConnections,
} from '../../../src/application/ports/node/flow-events.js';
import { inSample } from '../../../src/domain/traffic/sample.js';
import type { SeenFlow } from '../../../src/domain/conntrack/flow.js';

/** A kernel's table of tracked connections in memory, and its events, of which it keeps only so many. */
export class MemoryFlowEvents implements FlowEvents {
  /** By id. */
  readonly tracked = new Map<number, SeenFlow>();
  /** Somebody listens. */
  isOpen = false;
  shift = 0;
  countsBytes = true;
  tracksServices = true;
  /** Events that find room until they are read. */
  room = Infinity;
  /** Found by a walk between two pauses. */
  foundAtOnce = Infinity;
  /** How the next walks fail, in order. */
  readonly faults: Error[] = [];
  /** How often a walk has begun. */
  walks = 0;
  /** `open` throws this. */
  unavailable: Error | undefined;
  private waiting: ((sink: FlowSink) => void)[] = [];
  private lost = false;

  /** A connection begins. Connections older than the listener have no events, as in kernels since 5.19. */
  begin(flow: SeenFlow): void {
    this.tracked.set(flow.id, flow);
    this.tell(flow, (sink) => sink.began(flow));
  }

  /** It gets an answer, transfers something, is closed. */
  change(flow: SeenFlow, isTold = true): void {
    this.tracked.set(flow.id, flow);
    if (isTold) this.tell(flow, (sink) => sink.changed({ ...flow, bytes: undefined }));
  }

  end(id: number, isTold = true): void {
    const flow = this.tracked.get(id)!;
    this.tracked.delete(id);
    if (isTold) this.tell(flow, (sink) => sink.ceased(flow));
  }

  open(): void {
    if (this.unavailable) throw this.unavailable;
    this.isOpen = true;
  }

  read(sink: FlowSink): EventsRead {
    const { waiting, lost } = this;
    this.waiting = [];
    this.lost = false;
    for (const event of waiting) event(sink);
    return { count: waiting.length, lost };
  }

  sample(shift: number): void {
    this.shift = shift;
  }

  async walk(
    found: (flow: SeenFlow) => void,
    pause: (walked: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    this.walks++;
    const all = [...this.tracked.values()];
    for (let from = 0; from < all.length; from += this.foundAtOnce) {
      const some = all.slice(from, from + this.foundAtOnce);
      for (const flow of some) if (inSample(flow.hash, this.shift)) found(flow);
      await pause(some.length);
      signal.throwIfAborted();
    }
    const fault = this.faults.shift();
    if (fault) throw fault;
  }

  table(): TrackedConnections {
    const { tracked, countsBytes, tracksServices } = this;
    return { count: tracked.size, countsBytes, tracksServices };
  }

  close(): void {
    this.isOpen = false;
    this.waiting = [];
  }

  private tell({ hash }: SeenFlow, event: (sink: FlowSink) => void): void {
    if (!this.isOpen || !inSample(hash, this.shift)) return;
    if (this.waiting.length < this.room) this.waiting.push(event);
    else this.lost = true;
  }
}
