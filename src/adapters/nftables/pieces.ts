import { setsOf } from '../../domain/nftables/layout/sets.js';
import { VARIANTS } from '../../domain/nftables/layout/keys.js';
import { Transaction } from '../../domain/nftables/state/transaction.js';

/** Elements in one transaction: some 16 MB of netlink messages, and about 0.2 s in the kernel. */
const MAX_ELEMENTS = 200_000;

/** In the order in which they are filled: a frontend with policy Local needs its short circuit. */
const LEADING_TO_ENDPOINTS = [
  ...VARIANTS.map((variant) => setsOf(variant).shortCircuits),
  ...VARIANTS.map((variant) => setsOf(variant).frontends),
];

/**
 * Splits a transaction that fills an empty table, so that the kernel is not locked for seconds. Every intermediate
 * state is consistent: maps that lead to a frontend's endpoints are filled after those that hold the endpoints.
 */
export function inPieces(whole: Transaction, limit = MAX_ELEMENTS): readonly Transaction[] {
  const count = whole.operations.reduce(
    (sum, operation) => sum + ('elements' in operation ? operation.elements.length : 0),
    0,
  );
  const removes = whole.operations.some(({ op }) => op === 'delete-elements' || op === 'flush-chain');
  if (count <= limit || removes) return [whole];
  const structure = new Transaction();
  const pieces: Transaction[] = [structure];
  const leading = LEADING_TO_ENDPOINTS.map((): Transaction[] => []);
  whole.operations.forEach((operation, index) => {
    if (operation.op !== 'add-elements') {
      structure.add(operation);
      return;
    }
    for (let start = 0; start < operation.elements.length; start += limit) {
      const elements = operation.elements.slice(start, start + limit);
      const piece = new Transaction();
      piece.add(
        { ...operation, elements },
        elements.map((_, offset) => whole.owner(index, start + offset)),
      );
      (leading[LEADING_TO_ENDPOINTS.indexOf(operation.set)] ?? pieces).push(piece);
    }
  });
  return [...pieces, ...leading.flat()];
}
