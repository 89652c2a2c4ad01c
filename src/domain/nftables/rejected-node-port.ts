import { flatText } from '../model/flat-text.js';
import type { Protocol } from '../model/service-port-name.js';
import { rejectionChain } from './layout/rejection.js';
import { REJECTED_NODE_PORTS } from './layout/sets.js';
import type { Structure } from './layout/structure.js';
import type { PlacedElement, TablePart } from './state/service-port-rules.js';

const NO_STRUCTURES: readonly Structure[] = [];

/** A node port whose packets to loopback addresses are rejected. Service ports that ask for the same one share it. */
export class RejectedNodePort implements TablePart {
  readonly shared = REJECTED_NODE_PORTS;
  readonly uses = NO_STRUCTURES;

  constructor(
    private readonly protocol: Protocol,
    private readonly port: number,
  ) {}

  get key(): string {
    return flatText(this.shared.name, ' ', this.elementKey);
  }

  get elements(): readonly PlacedElement[] {
    return [{ set: this.shared, key: this.elementKey, value: `goto ${rejectionChain(this.protocol)}` }];
  }

  get listed(): readonly PlacedElement[] {
    return this.elements;
  }

  private get elementKey(): string {
    return flatText(this.protocol.toLowerCase(), ' . ', String(this.port));
  }
}
