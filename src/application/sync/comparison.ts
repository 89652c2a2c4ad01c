import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import type { Clock } from '../ports/clock.js';
import type { Sync } from '../use-cases/sync.js';
import type { VerifierTurns } from './verifier.js';

/** So long after the question changes come first, in milliseconds. Then it is answered, and changes wait for that. */
const GIVES_WAY = 5_000;

const NEVER = new AbortController().signal;

type Found = readonly RuleDifference[] | undefined;

/** One attempt to answer, which a change may end. */
interface Attempt {
  readonly ending: AbortController;
  /** Aborted by a change, or when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly firmFrom: number;
}

/** Compares what is programmed with the kernel when somebody asks, between syncs. A change ends it, and it begins anew. */
export class Comparison {
  private running: Attempt | undefined;
  private isStopped = false;

  constructor(
    private readonly turns: Pick<VerifierTurns, 'enqueue'>,
    private readonly sync: Pick<Sync, 'differences'>,
    private readonly clock: Clock,
  ) {}

  /**
   * As `Sync.differences`. @throws also when the proxy stops
   * @param asker aborted when nobody waits for the answer any more
   */
  async differences(asker: AbortSignal = NEVER): Promise<Found> {
    const firmFrom = this.clock.steady() + GIVES_WAY;
    for (;;) {
      const ending = new AbortController();
      try {
        const signal = AbortSignal.any([ending.signal, asker]);
        return await this.inTurn({ ending, signal, firmFrom });
      } catch (error) {
        asker.throwIfAborted();
        if (!ending.signal.aborted || this.isStopped) throw error;
      }
    }
  }

  /** There is a change to program. */
  preempt(): void {
    if (this.running && this.clock.steady() < this.running.firmFrom) this.running.ending.abort();
  }

  stop(): void {
    this.isStopped = true;
    this.running?.ending.abort(stopping());
  }

  private inTurn(attempt: Attempt): Promise<Found> {
    return new Promise((resolve, reject) =>
      this.turns.enqueue(async () => {
        if (this.isStopped) return reject(stopping());
        if (attempt.signal.aborted) return reject(attempt.signal.reason as Error);
        this.running = attempt;
        await this.sync.differences(attempt.signal).then(resolve, reject);
        this.running = undefined;
      }),
    );
  }
}

function stopping(): Error {
  return new Error('the proxy is stopping');
}
