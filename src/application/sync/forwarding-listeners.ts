import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';

/** Several listeners as one. Each is told in turn. */
export class ForwardingListeners implements ForwardingListener {
  constructor(private readonly listeners: readonly ForwardingListener[]) {}

  programmed(programmed: Programmed): void {
    for (const listener of this.listeners) listener.programmed(programmed);
  }

  repaired(): void {
    for (const listener of this.listeners) listener.repaired();
  }
}
