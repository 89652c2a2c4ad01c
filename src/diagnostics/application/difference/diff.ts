import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { RuleDifference } from '../../../domain/reconcile/rule-difference.js';
import { errorMessage } from '../../../application/error-message.js';
import { familyDifference, unknownDifference } from './difference-report.js';
import type { DifferenceReport, FamilyDifference } from './difference-report.js';

/** The part of a sync loop that is asked. */
export interface ComparedLoop {
  readonly family: IpFamily;
  /** Undefined if the backend cannot tell. @throws if nothing has been programmed yet, the kernel cannot be read, or on abort */
  differences(signal?: AbortSignal): Promise<readonly RuleDifference[] | undefined>;
}

/** What a comparison of one family found, or why it could not: of these Services, or with none of all. */
type Compared = (services: readonly ServiceKey[]) => FamilyDifference;

const NEVER = new AbortController().signal;

/** Use case Diff: what the kernel has otherwise than was programmed. Changes nothing. Costs as much as a full verification. */
export class Diff {
  private readonly comparison: SharedWork<readonly Compared[]>;

  constructor(
    private readonly mode: string,
    loops: readonly ComparedLoop[],
  ) {
    this.comparison = new SharedWork(async (signal) => {
      const all: Compared[] = [];
      for (const loop of loops) all.push(await compare(loop, signal));
      return all;
    });
  }

  /**
   * One comparison at a time, however many ask: who asks while one runs gets what it finds. It ends when nobody waits for it.
   * @param services that are asked about; none: all
   * @param signal aborted when who asks leaves. @throws its reason then
   */
  async report(services: readonly ServiceKey[] = [], signal: AbortSignal = NEVER): Promise<DifferenceReport> {
    const compared = await this.comparison.ask(signal);
    return { mode: this.mode, families: compared.map((ofFamily) => ofFamily(services)) };
  }
}

async function compare(loop: ComparedLoop, signal: AbortSignal): Promise<Compared> {
  const { family } = loop;
  try {
    const lines = await loop.differences(signal);
    return (services) => familyDifference(family, lines, services);
  } catch (error) {
    signal.throwIfAborted();
    return () => unknownDifference(family, errorMessage(error));
  }
}

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
