import { flatText } from '../model/text.js';
import type { Protocol } from '../model/service-port-name.js';
import { rejectionChain, type Structure } from './layout/structure.js';
import { LOOKED_UP_SETS, REJECTED_NODE_PORTS } from './layout/sets.js';
import type { SetDefinition } from './layout/table.js';
import type { PlacedElement, TablePart } from './state/service-port-rules.js';

const NO_STRUCTURES: readonly Structure[] = [];
const NO_ELEMENTS: readonly PlacedElement[] = [];

/** An element that service ports share. */
export class SharedPart implements TablePart {
  constructor(
    readonly shared: SetDefinition,
    private readonly elementKey: string,
    private readonly value?: string,
  ) {}

  get key(): string {
    return flatText(this.shared.name, ' ', this.elementKey);
  }

  get elements(): readonly PlacedElement[] {
    const { shared: set, elementKey: key, value } = this;
    return [value === undefined ? { set, key } : { set, key, value }];
  }

  get listed(): readonly PlacedElement[] {
    return LOOKED_UP_SETS.has(this.shared) ? NO_ELEMENTS : this.elements;
  }

  get uses(): readonly Structure[] {
    return NO_STRUCTURES;
  }
}

/** A node port whose packets to loopback addresses are rejected. */
export function rejectedNodePort(protocol: Protocol, port: number): SharedPart {
  const key = flatText(protocol.toLowerCase(), ' . ', String(port));
  return new SharedPart(REJECTED_NODE_PORTS, key, `goto ${rejectionChain(protocol)}`);
}
