/** The active configuration, and edits of it while the proxy runs. */

import { errorMessage } from './error-message.js';
import type { Logger } from './ports/logger.js';

/**
 * What an edited field takes to come into effect: nothing, because it has no effect here (`none`); just reading it
 * (`at-once`); a sync of all rules that depend on it (`resync`); or a restart of the process (`restart`).
 */
export type EditEffect = 'none' | 'at-once' | 'resync' | 'restart';

/** A field whose value an edit changed, by its path in the file. */
export interface EditedField {
  readonly path: string;
  readonly effect: EditEffect;
}

/** The outcome of an edit. After `restart` the process must exit; the previous configuration stays active until then. */
type EditOutcome = 'unchanged' | 'applied' | 'rejected' | 'restart';

/**
 * Use case ApplyConfiguration: the configuration file was edited while the proxy runs. An invalid edit is rejected as a whole,
 * and the previous configuration stays active. An edit with a field that needs a restart is not applied at all: the new
 * process reads it.
 */
export class ApplyConfiguration<C> {
  /**
   * @param compare which fields differ between two configurations
   * @param resync starts a sync of every rule that depends on the configuration
   */
  constructor(
    private readonly live: LiveConfiguration<C>,
    private readonly compare: (from: C, to: C) => readonly EditedField[],
    private readonly resync: () => void,
    private readonly logger: Logger,
  ) {}

  /** @param read returns the edited configuration if it is valid, or throws an Error that lists everything wrong with it */
  apply(read: () => C): EditOutcome {
    let edited: C;
    try {
      edited = read();
    } catch (error) {
      return this.reject(error);
    }
    const wasRejected = this.live.problem !== undefined;
    const fields = this.compare(this.live.current, edited);
    const paths = (effect: EditEffect) =>
      fields.filter((field) => field.effect === effect).map(({ path }) => path);
    const restart = paths('restart');
    if (restart.length > 0) {
      this.logger.warn({ fields: restart }, 'the edited configuration needs a restart');
      return 'restart';
    }
    this.live.accept(edited);
    if (fields.length === 0 && !wasRejected) return 'unchanged';

    const resync = paths('resync');
    if (resync.length > 0) this.resync();
    this.logger.info(
      { atOnce: paths('at-once'), resync, withoutEffect: paths('none') },
      fields.length > 0
        ? 'applied the edited configuration'
        : 'the configuration file matches the active configuration again',
    );
    return 'applied';
  }

  private reject(error: unknown): 'rejected' {
    const problem = errorMessage(error);
    this.live.reject(problem);
    this.logger.error({ problem }, 'rejected the edited configuration; keeping the last valid version');
    return 'rejected';
  }
}

/**
 * The active configuration. It is read at the start and replaced when an edit is applied; a rejected edit does not change it.
 * To follow edits, read `current` each time, or listen.
 */
export class LiveConfiguration<C> {
  private readonly listeners: ((configuration: C, previous: C) => void)[] = [];
  private rejection: string | undefined;

  constructor(private configuration: C) {}

  get current(): C {
    return this.configuration;
  }

  /** Why the configuration file is not active as it is now; undefined when it is. */
  get problem(): string | undefined {
    return this.rejection;
  }

  /** Calls the listener with each configuration that becomes active from now on, and the one before it. */
  onChange(listener: (configuration: C, previous: C) => void): void {
    this.listeners.push(listener);
  }

  /** This configuration is active from now on. */
  accept(configuration: C): void {
    const previous = this.configuration;
    this.configuration = configuration;
    this.rejection = undefined;
    for (const listener of this.listeners) listener(configuration, previous);
  }

  /** The configuration file was rejected; the active configuration stays. */
  reject(problem: string): void {
    this.rejection = problem;
  }
}
