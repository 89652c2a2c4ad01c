/** One operation of a JSON patch (RFC 6902); `move` and `copy` are not known here. */
interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value?: unknown;
}

/** Applies a JSON patch to a copy. Throws where the patch does not fit. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  const result = structuredClone(target);
  for (const operation of operations as readonly Operation[]) perform(result, operation);
  return result;
}

function perform(document: unknown, { op, path, value }: Operation): void {
  const words = path
    .split('/')
    .slice(1)
    .map((word) => word.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = words.pop()!;
  let place = document as Record<string, unknown>;
  for (const word of words) place = (place?.[word] ?? {}) as Record<string, unknown>;
  const exists = Array.isArray(place) ? last === '-' || Number(last) < place.length : last in place;
  if (op !== 'add' && !exists)
    throw new Error(`${op} operation does not apply: doc is missing path: ${path}`);
  if (op === 'test') {
    if (JSON.stringify(place[last]) !== JSON.stringify(value))
      throw new Error(`testing value ${path} failed`);
  } else if (Array.isArray(place)) {
    const at = last === '-' ? place.length : Number(last);
    place.splice(at, op === 'add' ? 0 : 1, ...(op === 'remove' ? [] : [value]));
  } else if (op === 'remove') delete place[last];
  else if (op === 'add' || op === 'replace') place[last] = value;
  else throw new Error(`the operation ${op} of a JSON patch is not known here`);
}
