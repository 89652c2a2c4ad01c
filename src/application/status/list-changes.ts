import type { Frontend } from '../../domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../domain/model/endpoint.js';
import { hostPort } from '../../domain/net/address.js';
import type { ListChange } from './change-entry.js';

/** How many members of a change are named. */
const NAMED = 3;

const NOTHING: readonly never[] = [];
const NO_CHANGE: ListChange = { now: 0, added: 0, removed: 0, some: NOTHING };

/** How a list of endpoints changed. Both are sorted by text, so one walk through both finds it. */
export function endpointsChange(
  former: readonly Endpoint[] = NOTHING,
  present: readonly Endpoint[] = NOTHING,
): ListChange {
  return change(former, present, ({ text }) => text);
}

/** How the frontends changed, the outcome for clients included. They are few. */
export function frontendsChange(
  former: readonly Frontend[] = NOTHING,
  present: readonly Frontend[] = NOTHING,
): ListChange {
  const alike =
    former.length === present.length &&
    former.every((one, index) => {
      const other = present[index]!;
      return one.address === other.address && one.port === other.port && one.outcome === other.outcome;
    });
  if (alike) return { ...NO_CHANGE, now: present.length };
  const sorted = (frontends: readonly Frontend[]) => frontends.map(frontendText).sort();
  return change(sorted(former), sorted(present), (text) => text);
}

function frontendText({ address, port, outcome }: Frontend): string {
  return `${address === undefined ? port : hostPort(address, port)} ${outcome}`;
}

function change<T>(former: readonly T[], present: readonly T[], textOf: (member: T) => string): ListChange {
  const now = present.length;
  if (former === present) return now === 0 ? NO_CHANGE : { ...NO_CHANGE, now };
  const some: string[] = [];
  let [added, removed, old, fresh] = [0, 0, 0, 0];
  while (old < former.length || fresh < now) {
    const before = old < former.length ? textOf(former[old]!) : undefined;
    const after = fresh < now ? textOf(present[fresh]!) : undefined;
    if (before === after) {
      old++;
      fresh++;
    } else if (before === undefined || (after !== undefined && after < before)) {
      fresh++;
      if (++added + removed <= NAMED) some.push(`+${after}`);
    } else {
      old++;
      if (added + ++removed <= NAMED) some.push(`-${before}`);
    }
  }
  return { now, added, removed, some };
}
