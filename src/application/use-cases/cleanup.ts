import type { Logger } from '../ports/logger.js';

/** A proxy mode whose rules can be removed. */
interface RemovableMode {
  readonly name: string;
  /**
   * Removes everything that this mode makes. Rejects when something could not be removed.
   * @returns what could not be checked, for people
   */
  cleanUp(): Promise<readonly string[]>;
}

/**
 * Use case Cleanup: removes everything that the proxy ever makes, in any mode. A mode that cannot be removed, or checked
 * for, does not stop the others (docs/internals/spec/server.md §1.1, §12).
 */
export class Cleanup {
  constructor(
    private readonly modes: readonly RemovableMode[],
    private readonly logger: Logger,
  ) {}

  /** @throws when something could not be removed or checked for; the reason has been logged */
  async run(): Promise<void> {
    let failures = 0;
    const unseen = new Set<string>();
    for (const mode of this.modes) {
      try {
        for (const place of await mode.cleanUp()) unseen.add(place);
      } catch (error) {
        failures++;
        this.logger.error({ mode: mode.name, error }, 'cannot remove rules');
      }
    }
    for (const problem of unseen) this.logger.error({ problem }, 'rules may remain');
    if (failures + unseen.size > 0) throw new Error('encountered an error while tearing down rules');
  }
}
