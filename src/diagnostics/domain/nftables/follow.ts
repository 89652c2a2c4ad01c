import type { Packet, PacketEnvironment } from '../trace/packet.js';
import type { TracedEnding } from '../trace/traced-ending.js';
import { OnDemand, walkUntilKnown } from '../walk/on-demand.js';
import { ElementStore, type ReadElements } from './elements.js';
import { RulesetWalk } from './ruleset-walk.js';
import type { KernelRuleset } from '../../../domain/nftables/kernel/ruleset.js';

/**
 * Follows a packet through the rules of the kernel. Elements of sets are read when a rule looks for them, so that it costs what the
 * packet meets, not what the tables hold.
 * @param read reads elements; what it does not return does not exist
 */
export function follow(
  ruleset: KernelRuleset,
  packet: Packet,
  { localAddresses, deviceTowards }: PacketEnvironment,
  read: ReadElements,
): Promise<readonly TracedEnding[]> {
  const elements = new ElementStore(read);
  const devices = new OnDemand(deviceTowards);
  const walk = new RulesetWalk(ruleset, packet, localAddresses, elements.find, devices.find);
  return walkUntilKnown(() => walk.endings(), elements, devices);
}
