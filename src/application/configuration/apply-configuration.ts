import { errorMessage } from '../error-message.js';
import type { Logger } from '../ports/logger.js';
import type { LiveConfiguration } from './live-configuration.js';

/**
 * What it takes until an edited field counts: nothing, since it has no effect here (`none`); nothing more than reading it
 * (`at-once`); a look at all rules that follow from it (`resync`); or a new start of the process (`restart`).
 */
export type EditEffect = 'none' | 'at-once' | 'resync' | 'restart';

/** A field whose value an edit changed, by its path in the file. */
export interface EditedField {
  readonly path: string;
  readonly effect: EditEffect;
}

/** What became of an edit. After `restart` the process has to end; what was in force stays until then. */
export type EditOutcome = 'unchanged' | 'applied' | 'refused' | 'restart';

/**
 * Use case ApplyConfiguration: the configuration was edited while the proxy runs. An edit that is not valid as a whole is
 * refused as a whole, and what was in force stays. An edit with a field that needs a new start is not applied at all: the
 * new start reads it.
 */
export class ApplyConfiguration<C> {
  /**
   * @param compare which fields differ between two configurations
   * @param resync has every rule that depends on the configuration looked at again
   */
  constructor(
    private readonly live: LiveConfiguration<C>,
    private readonly compare: (from: C, to: C) => readonly EditedField[],
    private readonly resync: () => void,
    private readonly logger: Logger,
  ) {}

  /** @param read gives the edited configuration, valid, or throws an Error that names all that is wrong with it */
  apply(read: () => C): EditOutcome {
    let edited: C;
    try {
      edited = read();
    } catch (error) {
      return this.refuse(error);
    }
    const wasRefused = this.live.problem !== undefined;
    const fields = this.compare(this.live.current, edited);
    const paths = (effect: EditEffect) =>
      fields.filter((field) => field.effect === effect).map(({ path }) => path);
    const restart = paths('restart');
    if (restart.length > 0) {
      this.logger.warn({ fields: restart }, 'the edited configuration needs a new start');
      return 'restart';
    }
    this.live.accept(edited);
    if (fields.length === 0 && !wasRefused) return 'unchanged';

    const resync = paths('resync');
    if (resync.length > 0) this.resync();
    this.logger.info(
      { atOnce: paths('at-once'), resync, withoutEffect: paths('none') },
      fields.length > 0 ? 'edited configuration applied' : 'the configuration is again the one in force',
    );
    return 'applied';
  }

  private refuse(error: unknown): 'refused' {
    const problem = errorMessage(error);
    this.live.refuse(problem);
    this.logger.error({ problem }, 'edited configuration refused; what was in force stays');
    return 'refused';
  }
}
