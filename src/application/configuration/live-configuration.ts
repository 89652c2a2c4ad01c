/**
 * The configuration in force while the proxy runs. It starts with the one that was read at the start, and is replaced when
 * an edit is applied; an edit that is refused leaves it as it is. Whoever follows edits asks here each time, or listens.
 */
export class LiveConfiguration<C> {
  private readonly listeners: ((configuration: C, former: C) => void)[] = [];
  private refusal: string | undefined;

  constructor(private configuration: C) {}

  get current(): C {
    return this.configuration;
  }

  /** Why the configuration as it is written now is not in force; undefined when it is. */
  get problem(): string | undefined {
    return this.refusal;
  }

  /** Calls the listener with each configuration that comes into force from now on, and the one before it. */
  onChange(listener: (configuration: C, former: C) => void): void {
    this.listeners.push(listener);
  }

  /** This configuration is in force. */
  accept(configuration: C): void {
    const former = this.configuration;
    this.configuration = configuration;
    this.refusal = undefined;
    for (const listener of this.listeners) listener(configuration, former);
  }

  /** What is written now is not in force; what was in force stays. */
  refuse(problem: string): void {
    this.refusal = problem;
  }
}
