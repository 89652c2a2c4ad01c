import type { ClusterEvent, EventRecorder } from '../../application/ports/event-recorder.js';
import type { Logger } from '../../application/ports/logger.js';

/** Where no API server is, events go to the log. */
export class LoggedEvents implements EventRecorder {
  constructor(private readonly logger: Logger) {}

  record({ regarding, type, reason, action, note }: ClusterEvent): void {
    const { kind, namespace, name } = regarding;
    const facts = { regarding: `${kind} ${namespace ? `${namespace}/` : ''}${name}`, reason, action, note };
    if (type === 'Warning') this.logger.warn(facts, 'event');
    else this.logger.info(facts, 'event');
  }

  /** There is nothing to end. */
  async stop(): Promise<void> {}
}
