import type { ClusterEvent, EventRecorder } from '../../application/ports/event-recorder.js';

/** Keeps what is recorded, in order. */
export class RecordingEvents implements EventRecorder {
  readonly events: ClusterEvent[] = [];

  record(event: ClusterEvent): void {
    this.events.push(event);
  }
}
