/**
 * The probably intended name: one that differs only in capitals, or in few letters for its length. Undefined if none
 * is near.
 */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined;
  const lower = written.toLowerCase();
  let nearest: string | undefined;
  let least = Infinity;
  for (const name of names) {
    const allowed = Math.min(2, Math.floor(name.length / 4));
    if (Math.abs(name.length - lower.length) > allowed) continue; // they differ by at least this number of letters
    const distance = distanceOf(lower, name.toLowerCase());
    if (distance < least && distance <= allowed) {
      nearest = name;
      least = distance;
    }
  }
  return nearest;
}

/** No name of Kubernetes is longer. */
const LONGEST = 64;

/** How many letters must be added, removed, replaced, or swapped with their neighbours (Damerau and Levenshtein). */
function distanceOf(left: string, right: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let at = 1; at <= left.length; at++) {
    const next = [at];
    for (let to = 1; to <= right.length; to++) {
      const replaced = row[to - 1]! + (left[at - 1] === right[to - 1] ? 0 : 1);
      const isSwapped = at > 1 && to > 1 && left[at - 1] === right[to - 2] && left[at - 2] === right[to - 1];
      const swapped = isSwapped ? before[to - 2]! + 1 : Infinity;
      next.push(Math.min(replaced, swapped, row[to]! + 1, next[to - 1]! + 1));
    }
    before = row;
    row = next;
  }
  return row[right.length]!;
}
