import { errorMessage } from '../error-message.js';
import type { Logger } from '../ports/logger.js';
import type { LiveConfiguration } from './live-configuration.js';

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
export type EditOutcome = 'unchanged' | 'applied' | 'rejected' | 'restart';

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
