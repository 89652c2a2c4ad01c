import type { PacketEnvironment } from '../trace/packet.js';
import type { TracedEnding } from '../trace/traced-ending.js';
import { OnDemand, walkUntilKnown, type Wanted } from '../walk/on-demand.js';

/** The device that packets to an address go out through; undefined where that is not known. */
export type DeviceTowards = (address: string) => string | undefined;

/**
 * Walks with devices that are asked for where a rule looks at them.
 * @param sources what else the walk looks up
 */
export function walkWithDevices(
  { deviceTowards }: PacketEnvironment,
  walk: (devices: DeviceTowards) => readonly TracedEnding[],
  ...sources: readonly Wanted[]
): Promise<readonly TracedEnding[]> {
  const devices = new OnDemand(deviceTowards);
  return walkUntilKnown(() => walk(devices.find), devices, ...sources);
}
