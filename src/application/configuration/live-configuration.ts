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
