import type { FrontendAddress } from '../../domain/conntrack/frontend-map.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import type { ForwardingListener, Programmed } from '../ports/forwarding-listener.js';

/** Several listeners as one. Each is called in turn. */
export class ForwardingListeners implements ForwardingListener {
  constructor(private readonly listeners: readonly ForwardingListener[]) {}

  programming(changes: readonly ForwardingChange[]): void {
    for (const listener of this.listeners) listener.programming?.(changes);
  }

  programmed(programmed: Programmed): void {
    for (const listener of this.listeners) listener.programmed(programmed);
  }

  repaired(lost?: readonly FrontendAddress[]): void {
    for (const listener of this.listeners) listener.repaired?.(lost);
  }
}
