import type { Packet, PacketEnvironment } from '../../trace/packet.js';
import type { TracedEnding } from '../../trace/traced-ending.js';
import { ElementStore, type WantedElements } from './elements.js';
import type { Devices } from './register-values.js';
import { RulesetWalk } from './ruleset-walk.js';
import type { KernelElement, KernelRuleset } from './ruleset.js';

/** Every turn leads at least one lookup further, and a packet passes some hundred at most. */
const MAX_TURNS = 1000;

/** The rules changed all the time, or ask for ever more. */
class EndlessWalkError extends Error {
  constructor() {
    super(`the rules of nf_tables ask for elements of sets without an end; try again`);
    this.name = 'EndlessWalkError';
  }
}

/**
 * Follows a packet through the rules of the kernel. Elements of sets are read when a rule looks for them, so that it costs what the
 * packet meets, not what the tables hold.
 * @param read reads elements; what it does not return does not exist
 */
export async function follow(
  ruleset: KernelRuleset,
  packet: Packet,
  { localAddresses, deviceTowards }: PacketEnvironment,
  read: (wanted: WantedElements) => Promise<readonly KernelElement[]>,
): Promise<readonly TracedEnding[]> {
  const elements = new ElementStore();
  const devices = new KnownDevices(ruleset.deviceNumbers, deviceTowards !== undefined);
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const endings = new RulesetWalk(ruleset, packet, localAddresses, elements, devices).endings();
    const wanted = elements.takeWanted();
    const destinations = devices.takeWanted();
    if (wanted.length === 0 && destinations.length === 0) return endings;
    for (const each of wanted) elements.add(each, await read(each));
    for (const address of destinations) devices.add(address, await deviceTowards!(address));
  }
  throw new EndlessWalkError();
}

/** The devices that packets go out through, as far as they were asked for. */
class KnownDevices implements Devices {
  private readonly known = new Map<string, string>();
  private readonly wanted = new Set<string>();

  constructor(
    private readonly numbers: ReadonlyMap<string, number>,
    private readonly canAsk: boolean,
  ) {}

  towards(address: string): string | undefined {
    const device = this.known.get(address);
    if (device === undefined && this.canAsk) this.wanted.add(address);
    return device;
  }

  numberOf(name: string): number | undefined {
    return this.numbers.get(name);
  }

  takeWanted(): readonly string[] {
    const wanted = [...this.wanted];
    this.wanted.clear();
    return wanted;
  }

  add(address: string, device: string): void {
    this.known.set(address, device);
  }
}
