import { setImmediate as yieldToEventLoop, setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '../../application/ports/logger.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { AFFINITY } from '../../domain/nftables/layout/sets.js';
import type { IdsInUse } from '../../domain/nftables/state/desired-state.js';
import type { GenerationWatch } from './generation-watch.js';
import { NftCommitError, type NftTransport } from './transport.js';

/** Elements in one transaction. */
const REMOVED_AT_ONCE = 1_000;
/** Listings of the set, until one shows nothing to remove. */
const MOST_LISTINGS = 5;
/** How often elements of one transaction may time out before it is committed. */
const MOST_ATTEMPTS = 5;
/** The rest after a run, as a multiple of its duration: so it takes at most a tenth of a processor. */
const REST = 10;

/**
 * The kernel's session affinity, in the set `affinity`: an entry is removed once no rules use the id under which it
 * is remembered. Otherwise an endpoint that comes back, after its ejection too, would take back the clients that have moved to
 * others meanwhile. It is done in the background, after the transaction that took the id out, and never fails a sync. 60,000 clients take
 * 0.2 to 0.4 s, the longest turn of the event loop 5 to 30 ms (Linux 6.18, Node 20, two cores that others used, too).
 */
export class ClientMemory {
  private unused = new Set<string>();
  /** Memory under other ids than these is of an earlier process, and is to go as well. */
  private known: ReadonlySet<string> | undefined;
  private running: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly family: IpFamily,
    private readonly transport: Pick<NftTransport, 'commit' | 'lookUp' | 'select'>,
    private readonly watch: GenerationWatch,
    private readonly ids: IdsInUse,
    private readonly logger: Logger,
  ) {}

  /** To be called when the kernel has what the desired state has: removes what is remembered under ids that it has no more. */
  forgetAbandoned(): void {
    for (const id of this.ids.takeAbandoned()) this.unused.add(id);
    this.begin();
  }

  /** The same, and what an earlier process left. */
  forgetUnknown(): void {
    this.known = this.ids.all();
    this.forgetAbandoned();
  }

  /** Ends what is under way. Idempotent; nothing is removed any more. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private get isDue(): boolean {
    return this.unused.size > 0 || this.known !== undefined;
  }

  private begin(): void {
    if (!this.isDue || this.running || this.stopping.signal.aborted) return;
    this.running = this.run().finally(() => (this.running = undefined));
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let isDone = true;
    while (isDone && this.isDue && !signal.aborted) {
      const startedAt = performance.now();
      isDone = await this.removeDue();
      const rest = REST * (performance.now() - startedAt);
      await pause(rest, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** False if it failed: what is due stays due until the next change. */
  private async removeDue(): Promise<boolean> {
    const { unused, known } = this;
    this.unused = new Set();
    this.known = undefined;
    // An endpoint may have come back meanwhile.
    const isUnused = (id: string) => !this.ids.has(id) && (unused.has(id) || known?.has(id) === false);
    try {
      await this.removeAll(isUnused);
      return true;
    } catch (error) {
      if (this.stopping.signal.aborted) return false;
      for (const id of unused) this.unused.add(id);
      this.known ??= known;
      this.logger.warn(
        { family: this.family, error },
        'cannot remove session affinity to removed endpoints; will retry after the next change',
      );
      return false;
    }
  }

  private async removeAll(isUnused: (id: string) => boolean): Promise<void> {
    for (let listing = 0; listing < MOST_LISTINGS; listing++) {
      const keys = await this.transport.select(this.family, AFFINITY, isUnused, this.stopping.signal);
      if (keys.length === 0) return;
      for (let from = 0; from < keys.length; from += REMOVED_AT_ONCE) {
        await yieldToEventLoop();
        await this.remove(keys.slice(from, from + REMOVED_AT_ONCE), isUnused);
      }
    }
  }

  private async remove(keys: readonly string[], isUnused: (id: string) => boolean): Promise<void> {
    let rest = keys;
    for (let attempt = 1; ; attempt++) {
      this.stopping.signal.throwIfAborted();
      const elements = rest.filter((key) => isUnused(key.split(' . ')[0]!)).map((key) => ({ key }));
      if (elements.length === 0) return;
      try {
        await this.watch.ours(
          () => this.transport.commit(this.family, [{ op: 'delete-elements', set: AFFINITY, elements }]),
          (generation) => ({ generations: generation === undefined ? [] : [generation] }),
        );
        return;
      } catch (error) {
        if (attempt === MOST_ATTEMPTS || !hasTimedOut(error)) throw error;
        rest = [...(await this.transport.lookUp(this.family, AFFINITY, rest)).keys()];
      }
    }
  }
}

/** An element of the transaction was there no longer. */
function hasTimedOut(error: unknown): boolean {
  return error instanceof NftCommitError && error.failures.every(({ reason }) => reason.startsWith('ENOENT'));
}
