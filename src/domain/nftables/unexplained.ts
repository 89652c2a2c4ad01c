import type { ServicePortKey, ServicePortName } from '../model/service-port-name.js';
import { frontendComment } from './compile.js';
import type { TableComposition } from './composition.js';
import type { Fragment } from './fragment.js';
import type { PresentFragments } from './present-fragments.js';
import type { TableDelta } from './table-delta.js';

/** In front of the comment that names the service port; sorts after every service port's key. */
const PREFIX = '~';

/** Whether a fragment of that owner is kept for a service port that is not known. */
export function isUnexplained(owner: ServicePortKey): boolean {
  return owner.startsWith(PREFIX);
}

/**
 * What an earlier process left for service ports that are not known now, and is to stay until they are: fragments of the
 * composition as all others, each under an owner that is no service port.
 */
export class UnexplainedFragments {
  private readonly owners = new Set<ServicePortKey>();

  constructor(private readonly composition: TableComposition) {}

  /** Keeps what the table has for others than these service ports, but for frontends that are somebody's now. */
  keep(left: PresentFragments, known: Iterable<ServicePortName>): void {
    const explained = new Set(Array.from(known, frontendComment));
    for (const comment of left.comments()) {
      if (explained.has(comment)) continue;
      const fragment = left.commented(comment, (part) => this.composition.holder(part) !== undefined);
      if (fragment) this.replace(PREFIX + comment, fragment);
    }
  }

  /** What is kept for the service port. */
  of(name: ServicePortName): Fragment | undefined {
    return this.owners.size > 0 ? this.composition.fragment(ownerOf(name)) : undefined;
  }

  /** The service port is known from now on: nothing is kept for it any more, nor frontends that it wants. */
  yieldTo(name: ServicePortName, wanted: Fragment = [], delta?: TableDelta): void {
    if (this.owners.size === 0) return;
    this.replace(ownerOf(name), undefined, delta);
    for (const { key, frontend } of wanted) {
      const holder = this.composition.holder(key);
      if (frontend === undefined || holder === undefined || !isUnexplained(holder)) continue;
      const rest = this.composition.fragment(holder)!.filter((part) => part.key !== key);
      this.replace(holder, rest.some((part) => part.frontend !== undefined) ? rest : undefined, delta);
    }
  }

  private replace(owner: ServicePortKey, fragment: Fragment | undefined, delta?: TableDelta): void {
    if (fragment) this.owners.add(owner);
    else this.owners.delete(owner);
    this.composition.replace(owner, fragment, delta);
  }
}

function ownerOf(name: ServicePortName): ServicePortKey {
  return PREFIX + frontendComment(name);
}
