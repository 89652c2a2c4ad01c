import { textHash } from '../model/text-hash.js';
import { turns } from './turns.js';

/**
 * The look-up table of Maglev (Eisenbud et al., NSDI 2016, section 3.4): each endpoint has its own order of all slots, and in turn
 * each takes the first one of its order that is free. So it depends on names and weights only, and an endpoint that comes or goes moves
 * little besides its own share. With weights an endpoint has turns in proportion to its own.
 * @param names of the endpoints, sorted, each once
 * @param weights of each, above 0
 * @param size prime, the number of slots
 * @returns by slot, the place of its endpoint in `names`
 */
export function maglevTable(names: readonly string[], weights: readonly number[], size: number): Uint32Array {
  const next = names.map((name) => textHash(name) % size);
  const skips = names.map((name) => (textHash(name, SKIP_SEED) % (size - 1)) + 1);
  const slots = new Uint32Array(size);
  const taken = new Uint8Array(size);
  let free = size;
  for (const place of turns(weights, true)) {
    const skip = skips[place]!;
    let slot = next[place]!;
    while (taken[slot] === 1) slot = (slot + skip) % size;
    taken[slot] = 1;
    slots[slot] = place;
    next[place] = (slot + skip) % size;
    if (--free === 0) break;
  }
  return slots;
}

/** Of the hash that tells how far an endpoint's next slot is; the other one has the usual seed. */
const SKIP_SEED = 0x9747b28c;
