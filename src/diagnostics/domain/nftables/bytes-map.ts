import { compareBytes } from '../../../domain/nftables/kernel/bytes.js';

interface Entry<Value> {
  readonly key: Uint8Array;
  value: Value;
  /** Another key of the same hash. */
  readonly next: Entry<Value> | undefined;
}

/** Values by bytes, which must not change any more. As text the keys would take more room than what they stand for, and most of the time of a look-up. */
export class BytesMap<Value> {
  private readonly entries = new Map<number, Entry<Value>>();

  get(key: Uint8Array): Value | undefined {
    return this.entry(key, hashOf(key))?.value;
  }

  set(key: Uint8Array, value: Value): void {
    const hash = hashOf(key);
    const known = this.entry(key, hash);
    if (known) known.value = value;
    else this.entries.set(hash, { key, value, next: this.entries.get(hash) });
  }

  private entry(key: Uint8Array, hash: number): Entry<Value> | undefined {
    let entry = this.entries.get(hash);
    while (entry && compareBytes(entry.key, key) !== 0) entry = entry.next;
    return entry;
  }
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash;
}
