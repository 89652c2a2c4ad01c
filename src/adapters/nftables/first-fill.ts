/** Fills an empty table, in transactions of a limited size. */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import { getOrMake } from '../../domain/model/maps.js';
import { serviceOf, type ServicePortKey } from '../../domain/model/service-port-name.js';
import { HAIRPIN_CONNECTIONS } from '../../domain/nftables/layout/sets.js';
import type { SetDefinition, SetElement } from '../../domain/nftables/layout/table.js';
import type { NftablesDesiredState } from '../../domain/nftables/state/desired-state.js';
import { tableWithoutServices } from '../../domain/nftables/state/desired-table.js';
import type { TablePart } from '../../domain/nftables/state/service-port-rules.js';
import { Transaction } from '../../domain/nftables/state/transaction.js';
import type { OwnedPart } from '../../domain/reconcile/owned-parts.js';
import { tableRepair } from './table-difference.js';

/** Elements in one transaction: about a megabyte of netlink messages, and 15 ms in the kernel. */
const ELEMENTS_AT_ONCE = 12_000;

/** Elements compiled between two turns of the event loop: a millisecond's work. */
const COMPILED_AT_ONCE = 512;

/**
 * The transactions that create and fill a table. None locks the kernel for long, and only one of them is in memory while the
 * kernel takes the one before: a start with 100,000 services gets by with 90 MB less. No packet meets half a Service: what its
 * ports share with others (connections of endpoints to themselves) is there before them, and everything else comes in one transaction.
 * @param atOnce elements in one transaction; a Service is never split
 */
export async function* firstFill(
  desired: NftablesDesiredState,
  node: NodeNetwork,
  atOnce = ELEMENTS_AT_ONCE,
): AsyncGenerator<Transaction> {
  yield tableRepair(tableWithoutServices(desired, node), undefined, node.family).repair;
  let piece = new Piece();
  let turn = COMPILED_AT_ONCE;
  for (const held of inOrder(desired)) {
    if (piece.size >= atOnce && !piece.splits(held)) {
      yield piece.transaction();
      piece = new Piece();
      turn = COMPILED_AT_ONCE;
    }
    piece.add(held);
    if (piece.size < turn) continue;
    turn = piece.size + COMPILED_AT_ONCE;
    await yieldToEventLoop();
  }
  if (piece.size > 0) yield piece.transaction();
}

function* inOrder(desired: NftablesDesiredState): Generator<OwnedPart<TablePart>> {
  yield* desired.parts.held(({ shared }) => shared === HAIRPIN_CONNECTIONS);
  yield* desired.parts.held(({ shared }) => shared !== HAIRPIN_CONNECTIONS);
}

/** Parts that are added by one transaction. */
class Piece {
  size = 0;
  private readonly sets = new Map<SetDefinition, { elements: SetElement[]; owners: ServicePortKey[] }>();
  private last: OwnedPart<TablePart> | undefined;

  /** Whether the part is of the same Service as the last one. */
  splits({ owner }: OwnedPart<TablePart>): boolean {
    return this.last !== undefined && serviceOf(this.last.owner) === serviceOf(owner);
  }

  add(held: OwnedPart<TablePart>): void {
    const { owner, part } = held;
    this.last = held;
    for (const element of part.elements) {
      const additions = getOrMake(this.sets, element.set, () => ({ elements: [], owners: [] }));
      additions.elements.push(element);
      additions.owners.push(owner);
      this.size++;
    }
  }

  transaction(): Transaction {
    const transaction = new Transaction();
    for (const [set, { elements, owners }] of this.sets)
      transaction.add({ op: 'add-elements', set, elements }, owners);
    return transaction;
  }
}
