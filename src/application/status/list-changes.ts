import { frontendPlace, type Frontend } from '../../domain/forwarding/forwarding-entry.js';
import { comparePlaces, endpointPlace, type Endpoint } from '../../domain/model/endpoint.js';
import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import { ejectedOf } from '../../domain/select-endpoints.js';
import type { ListChange, ServicePortChange } from './change-entry.js';

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
    if (order < 0) change.note('removed', endpointPlace(before!));
    if (order > 0) change.note('added', endpointPlace(after!));
    if (order <= 0) old++;
    if (order >= 0) fresh++;
  }
  return change.of(present);
}

/** Which endpoints were ejected or returned, if any. */
export function ejectedChange({ former, entry }: ForwardingChange): Pick<ServicePortChange, 'ejectedChange'> {
  if (!former?.endpoints.ejected && !entry?.endpoints.ejected) return {};
  const change = endpointsChange(former && ejectedOf(former.endpoints), entry && ejectedOf(entry.endpoints));
  return change.examples.length > 0 ? { ejectedChange: change } : {};
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
    if (!before) change.note('added', frontendPlace(frontend));
    else if (before.outcome !== frontend.outcome)
      change.note('changed', `${frontendPlace(frontend)} ${before.outcome} → ${frontend.outcome}`);
  }
  for (const frontend of former)
    if (!present.some(isAt(frontend))) change.note('removed', frontendPlace(frontend));
  return change.of(present);
}

const SIGNS = { added: '+', removed: '-', changed: '' } as const;

/** Counts changes, and keeps the first of them as texts. */
class ChangeCount {
  private readonly counts = { added: 0, removed: 0, changed: 0 };
  private examples: readonly string[] = NOTHING;

  note(kind: keyof typeof SIGNS, text: string): void {
    this.counts[kind]++;
    if (this.examples.length < NAMED) this.examples = [...this.examples, SIGNS[kind] + text];
  }

  of({ length }: readonly unknown[]): ListChange {
    return { count: length, ...this.counts, examples: this.examples };
  }
}
