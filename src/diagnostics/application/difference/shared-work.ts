/** Work that all who ask while it runs share. It is aborted when all of them have left. */
export class SharedWork<Result> {
  private running: Running<Result> | undefined;

  constructor(private readonly work: (signal: AbortSignal) => Promise<Result>) {}

  /**
   * The result of the work that runs, or that this begins.
   * @param signal aborted when who asks leaves. @throws its reason then
   */
  ask(signal: AbortSignal): Promise<Result> {
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const running = (this.running ??= this.begin());
    running.asking++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason as Error);
        if (--running.asking > 0) return;
        this.forget(running);
        running.ending.abort(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      running.result.finally(() => signal.removeEventListener('abort', leave)).then(resolve, reject);
    });
  }

  private begin(): Running<Result> {
    const ending = new AbortController();
    const running = { ending, asking: 0, result: this.work(ending.signal) };
    const forget = (): void => this.forget(running);
    running.result.then(forget, forget);
    return running;
  }

  /** Who asks from now on begins anew. */
  private forget(running: Running<Result>): void {
    if (this.running === running) this.running = undefined;
  }
}

interface Running<Result> {
  readonly ending: AbortController;
  readonly result: Promise<Result>;
  asking: number;
}
