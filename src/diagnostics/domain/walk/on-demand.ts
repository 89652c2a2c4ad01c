import type { PacketEnvironment, PacketPath } from '../trace/trace.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** The rules changed all the time, or look up ever more values. */
class EndlessWalkError extends NamedError {
  constructor() {
    super('the rules of the kernel look up values without an end; try again');
  }
}

/** Every walk looks up at least one value more. A packet needs about a hundred at most. */
const MAX_LOOK_UPS = 1000;

/** What a walk looks up of the machine. What is not known yet is taken for missing, and wanted. */
export interface Wanted {
  /** Reads what was wanted since the last time. False if that is nothing. */
  readWanted(): Promise<boolean>;
}

/**
 * Walks again as long as something was looked up that had not been read yet: only what the packet meets is read.
 * @throws EndlessWalkError
 */
export async function walkUntilKnown<Result>(
  walk: () => Result,
  ...sources: readonly Wanted[]
): Promise<Result> {
  for (let result = 0; result < MAX_LOOK_UPS; result++) {
    const result = walk();
    let isKnown = true;
    for (const source of sources) if (await source.readWanted()) isKnown = false;
    if (isKnown) return result;
  }
  throw new EndlessWalkError();
}

/** Values by keys, each read when it was looked up first. */
export class OnDemand<Key, Value> implements Wanted {
  private readonly known = new Map<string, Value | undefined>();
  private readonly wanted = new Map<string, Key>();

  /**
   * @param read undefined: nothing can be read, and everything is missing
   * @param nameOf the identity of a key
   */
  constructor(
    private readonly read: ((key: Key) => Promise<Value | undefined>) | undefined,
    private readonly nameOf: (key: Key) => string = String,
  ) {}

  readonly find = (key: Key): Value | undefined => {
    const name = this.nameOf(key);
    if (this.read && !this.known.has(name)) this.wanted.set(name, key);
    return this.known.get(name);
  };

  async readWanted(): Promise<boolean> {
    const wanted = [...this.wanted];
    this.wanted.clear();
    for (const [name, key] of wanted) this.known.set(name, await this.read!(key));
    return wanted.length > 0;
  }
}

/** The device that packets to an address go out through; undefined where that is not known. */
export type DeviceTowards = (address: string) => string | undefined;

/**
 * Walks with devices that are looked up when a rule matches them.
 * @param sources what else the walk looks up
 */
export function walkWithDevices(
  { deviceTowards }: PacketEnvironment,
  walk: (devices: DeviceTowards) => readonly PacketPath[],
  ...sources: readonly Wanted[]
): Promise<readonly PacketPath[]> {
  const devices = new OnDemand(deviceTowards);
  return walkUntilKnown(() => walk(devices.find), devices, ...sources);
}
