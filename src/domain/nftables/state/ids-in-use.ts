/**
 * The ids of endpoints, as elements of `affinity` begin with them, that rules with session affinity lead to. An id is a hash of its
 * endpoint, so one that comes back has the same, and what the kernel remembers under it must be gone by then.
 */
export class IdsInUse {
  private readonly users = new Map<string, number>();
  private abandoned = new Set<string>();

  has(id: string): boolean {
    return this.users.has(id);
  }

  /** All at this moment. */
  all(): ReadonlySet<string> {
    return new Set(this.users.keys());
  }

  /** One frontend more leads to these. */
  use(ids: readonly string[]): void {
    for (const id of ids) {
      this.users.set(id, (this.users.get(id) ?? 0) + 1);
      this.abandoned.delete(id);
    }
  }

  /** One frontend less leads to these. */
  abandon(ids: readonly string[]): void {
    for (const id of ids) {
      const others = this.users.get(id)! - 1;
      if (others > 0) {
        this.users.set(id, others);
      } else {
        this.users.delete(id);
        this.abandoned.add(id);
      }
    }
  }

  /** Those that were abandoned by their last frontend since the last call, and are not in use again. */
  takeAbandoned(): ReadonlySet<string> {
    const { abandoned } = this;
    if (abandoned.size > 0) this.abandoned = new Set();
    return abandoned;
  }
}
