import type { PacketEnvironment } from '../../trace/packet.js';
import type { TracedEnding } from '../../trace/traced-ending.js';

/** The device that packets to an address go out through; undefined where that is not known. */
export type DeviceTowards = (address: string) => string | undefined;

/** Walks again as long as rules ask for devices that were not known yet: routes are asked only where a rule looks at them. */
export async function walkWithDevices(
  { deviceTowards }: PacketEnvironment,
  walk: (devices: DeviceTowards) => readonly TracedEnding[],
): Promise<readonly TracedEnding[]> {
  const known = new Map<string, string>();
  for (;;) {
    const wanted = new Set<string>();
    const endings = walk((address) => {
      const device = known.get(address);
      if (device === undefined) wanted.add(address);
      return device;
    });
    if (!deviceTowards || wanted.size === 0) return endings;
    for (const address of wanted) known.set(address, await deviceTowards(address));
  }
}
