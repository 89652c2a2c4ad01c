import { getOrMake } from '../../../domain/model/maps.js';
import type { PacketState, HookName } from './packet-state.js';
import { isLoopback } from '../../../domain/net/address.js';
import type { Packet } from '../trace/trace.js';

/** Handles packets at a hook (a base chain, a built-in chain, IPVS): returns every possible state of the packet after it. */
export type HookHandler<C> = (state: C) => readonly C[];

/** Leads packets from hook to hook, as the kernel does (docs/internals/spec/nftables.md §7). */
export class HookPath<C extends PacketState> {
  /** Where rules leave it to chance, a packet comes to a hook in many ways. */
  private readonly handlers = new Map<HookName, readonly HookHandler<C>[]>();

  /**
   * @param handlersAt what packets pass at a hook, in order
   * @param isLocal whether an address is one of the node's own
   */
  constructor(
    private readonly handlersAt: (hook: HookName) => readonly HookHandler<C>[],
    private readonly isLocal: (address: string) => boolean,
  ) {}

  /** Where a packet ends that comes in through an interface, or without one is sent by the node itself. */
  follow(state: C): readonly C[] {
    return state.inputInterface === '' ? this.leave(state) : this.arrive(state);
  }

  private arrive(state: C): readonly C[] {
    return this.at('prerouting', state).flatMap((routed) =>
      this.isLocal(routed.destination)
        ? this.enter(routed)
        : this.at('forward', routed).flatMap((forwarded) => this.at('postrouting', forwarded)),
    );
  }

  /** One to the node itself leaves through `lo` and comes in again. */
  private leave(state: C): readonly C[] {
    return this.at('output', state)
      .flatMap((routed) => (routed.isSentAnew ? this.at('output', goneOn(routed)) : [routed]))
      .flatMap((routed) => this.at('postrouting', routed))
      .flatMap((sent) => (this.isLocal(sent.destination) ? this.receive(sent) : [sent]));
  }

  private receive(state: C): readonly C[] {
    const come = state.with({ inputInterface: 'lo' });
    return this.at('prerouting', come).flatMap((each) => this.enter(each));
  }

  private enter(state: C): readonly C[] {
    return this.at('input', state).flatMap((entered) =>
      entered.isSentAnew
        ? this.at('output', goneOn(entered).with({ inputInterface: '' })).flatMap((sent) =>
            this.at('postrouting', sent),
          )
        : [entered],
    );
  }

  private at(hook: HookName, state: C): readonly C[] {
    if (state.verdict) return [state];
    const handlers = getOrMake(this.handlers, hook, () => this.handlersAt(hook));
    return through(handlers, state.hook === hook ? state : state.with({ hook }));
  }
}

/**
 * Combines handlers that translate the destination or the source of a connection: each is translated once, by the first handler that does.
 */
export function translating<C extends PacketState>(...handlers: readonly HookHandler<C>[]): HookHandler<C> {
  return (state) => {
    const atDestination = state.hook === 'prerouting' || state.hook === 'output';
    if (atDestination ? state.destinationIsSettled : state.sourceIsSettled) return [state];
    const isDone = (each: C) => (atDestination ? each.isTranslated : each.isMasqueraded);
    return through(handlers, state, isDone).map((after) =>
      after.with(atDestination ? { destinationIsSettled: true } : { sourceIsSettled: true }),
    );
  };
}

/** Through one after the other, until something stops it. */
function through<C extends PacketState>(
  handlers: readonly HookHandler<C>[],
  state: C,
  isDone: (state: C) => boolean = () => false,
): readonly C[] {
  const isStopped = (each: C): boolean => each.verdict !== undefined || each.isSentAnew || isDone(each);
  let states: readonly C[] = [state];
  for (const handler of handlers) {
    const [only] = states;
    // Most packets go one way.
    if (states.length === 1) states = isStopped(only!) ? states : handler(only!);
    else states = states.flatMap((each) => (isStopped(each) ? [each] : handler(each)));
  }
  return states;
}

function goneOn<C extends PacketState>(state: C): C {
  return state.with({ isSentAnew: false });
}

/** Identifies the node's own addresses, including loopback. */
export function localTo(
  { localAddresses }: { readonly localAddresses: Pick<ReadonlySet<string>, 'has'> },
  { family }: Packet,
): (address: string) => boolean {
  return (text) => localAddresses.has(text) || isLoopback({ family, text });
}
