import { frontendPlace, type Frontend } from '../../domain/forwarding/forwarding-entry.js';
import { comparePlaces, endpointPlace, type Endpoint } from '../../domain/model/endpoint.js';
import type { ListChange } from './change-entry.js';

/** How many members of a change are named. */
const NAMED = 3;

const NOTHING: readonly never[] = [];

/** How a list of endpoints changed. Both are sorted, so one walk through both finds it. */
export function endpointsChange(
  former: readonly Endpoint[] = NOTHING,
  present: readonly Endpoint[] = NOTHING,
): ListChange {
  const change = new ChangeCount();
  if (former === present) return change.of(present);
  let [old, fresh] = [0, 0];
  while (old < former.length || fresh < present.length) {
    const [before, after] = [former[old], present[fresh]];
    const order = compare(before, after);
    if (order < 0) change.remove(endpointPlace(before!));
    if (order > 0) change.add(endpointPlace(after!));
    if (order <= 0) old++;
    if (order >= 0) fresh++;
  }
  return change.of(present);
}

/** Beyond the end of a list is behind all. */
function compare(one: Endpoint | undefined, other: Endpoint | undefined): number {
  return one && other ? comparePlaces(one, other) : one ? -1 : 1;
}

/** How the frontends changed, the outcome for clients included. They are few. */
export function frontendsChange(
  former: readonly Frontend[] = NOTHING,
  present: readonly Frontend[] = NOTHING,
): ListChange {
  const change = new ChangeCount();
  const isAt =
    ({ address, port }: Frontend) =>
    (other: Frontend): boolean =>
      other.address === address && other.port === port;
  for (const frontend of present) {
    const before = former.find(isAt(frontend));
    if (!before) change.add(frontendPlace(frontend));
    else if (before.outcome !== frontend.outcome)
      change.turn(`${frontendPlace(frontend)} ${before.outcome} → ${frontend.outcome}`);
  }
  for (const frontend of former) if (!present.some(isAt(frontend))) change.remove(frontendPlace(frontend));
  return change.of(present);
}

/** Counts changes, and keeps the first of them as texts. */
class ChangeCount {
  private added = 0;
  private removed = 0;
  private turned = 0;
  private some: readonly string[] = NOTHING;

  add(text: string): void {
    this.added++;
    this.name('+', text);
  }

  remove(text: string): void {
    this.removed++;
    this.name('-', text);
  }

  turn(text: string): void {
    this.turned++;
    this.name('', text);
  }

  of({ length: now }: readonly unknown[]): ListChange {
    const { added, removed, turned, some } = this;
    return { now, added, removed, turned, some };
  }

  private name(sign: string, text: string): void {
    if (this.some.length < NAMED) this.some = [...this.some, sign + text];
  }
}
