import { isDeepStrictEqual } from 'node:util';
import type { NetlinkConversation } from '../../../adapters/netlink/netlink-channel.js';
import { readGeneration } from '../../../adapters/nftables/netlink/ask.js';

const ATTEMPTS = 5;

/** What was read, and what the time before if that is something else. */
export interface SteadyReading<T> {
  readonly read: T;
  /** What was read is what there was at one moment. Otherwise other programs changed something of it every time. */
  readonly isSteady: boolean;
  /** From the attempt before. Undefined if there was only one. */
  readonly former: T | undefined;
}

/**
 * Reads until no program commits anything meanwhile, or until the same is read twice: where programs commit all the time, few of them
 * change what is read. Ends after some attempts in any case.
 */
export async function readSteadily<T>(
  conversation: NetlinkConversation,
  readOnce: () => Promise<T>,
): Promise<SteadyReading<T>> {
  let former: T | undefined;
  for (let attempt = 1; ; attempt++) {
    const before = await readGeneration(conversation);
    const read = await readOnce();
    const isSteady = before === (await readGeneration(conversation)) || isDeepStrictEqual(read, former);
    if (isSteady || attempt === ATTEMPTS) return { read, isSteady, former };
    former = read;
  }
}
