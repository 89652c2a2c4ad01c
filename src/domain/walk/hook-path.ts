/** The hooks of IP, where base chains are. */
export type HookName = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/** What the order of the hooks depends on. */
export interface Traveler {
  readonly destination: string;
  /** Empty if there is none. */
  readonly inputInterface: string;
  readonly verdict: 'refused' | 'dropped' | undefined;
}

/** What happens at a hook. Only the first packet's first pass is translated. */
type AtHook<T> = (hook: HookName, traveler: T, translates: boolean) => readonly T[];

/** Leads packets from hook to hook, as the kernel does (docs/spec/nftables.md §7). */
export class HookPath<T extends Traveler> {
  constructor(
    private readonly atHook: AtHook<T>,
    private readonly isLocal: (address: string) => boolean,
  ) {}

  /** A packet that comes in through an interface. */
  arrive(traveler: T): readonly T[] {
    return this.hook('prerouting', traveler).flatMap((routed) =>
      this.isLocal(routed.destination) ? this.hook('input', routed) : this.forward(routed),
    );
  }

  /** A packet that the node itself sends. One to itself leaves through `lo` and comes in again, without another translation. */
  leave(traveler: T): readonly T[] {
    return this.hook('output', traveler)
      .flatMap((routed) => this.hook('postrouting', routed))
      .flatMap((sent) => (this.isLocal(sent.destination) ? this.receive(sent) : [sent]));
  }

  private receive(traveler: T): readonly T[] {
    if (traveler.verdict) return [traveler];
    return this.hook('prerouting', { ...traveler, inputInterface: 'lo' }, false).flatMap((come) =>
      this.hook('input', come, false),
    );
  }

  private forward(traveler: T): readonly T[] {
    return this.hook('forward', traveler).flatMap((forwarded) => this.hook('postrouting', forwarded));
  }

  private hook(hook: HookName, traveler: T, translates = true): readonly T[] {
    return traveler.verdict ? [traveler] : this.atHook(hook, traveler, translates);
  }
}
