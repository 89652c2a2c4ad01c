import type { ClusterEvent, EventRecorder } from '../../application/ports/event-recorder.js';
import type { Logger } from '../../application/ports/logger.js';

/** Writes events to the log when there is no API server. */
export class LoggedEvents implements EventRecorder {
  constructor(private readonly logger: Logger) {}

  record({ regarding, type, reason, note }: ClusterEvent): void {
    const { kind, namespace, name } = regarding;
    const facts = { kind, name: namespace === '' ? name : `${namespace}/${name}`, reason, note };
    this.logger[type === 'Warning' ? 'warn' : 'info'](facts, 'event');
  }

  /** Nothing is queued. */
  async stop(): Promise<void> {}
}
