/** So much work at a time; the rest waits in the order in which it was asked for, or until nobody wants it any more. */
export class Turns {
  private readonly waiting = new Set<() => void>();
  private running = 0;

  constructor(private readonly most: number) {}

  /** @throws what the work throws; the signal's reason when it is aborted before its turn */
  async take<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (this.running < this.most) this.running++;
    else await this.handedOver(signal);
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const [next] = this.waiting;
      if (next) next();
      else this.running--;
    }
  }

  /** Resolves when work that has ended leaves its place to this. */
  private handedOver(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.waiting.delete(start);
        signal.removeEventListener('abort', leave);
      };
      const start = (): void => {
        stop();
        resolve();
      };
      const leave = (): void => {
        stop();
        reject(signal.reason as Error);
      };
      this.waiting.add(start);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
