import { RulesetWalk } from '../../../src/domain/nftables/kernel/ruleset-walk.js';
import type { Packet } from '../../../src/domain/trace/packet.js';
import type { TracedEnding } from '../../../src/domain/trace/traced-ending.js';
import type { Machine } from '../kernel/machine.js';
import type { PacketWalk } from './packet-walk.js';

const DEVICES: ReadonlyMap<string, number> = new Map([
  ['lo', 1],
  ['eth0', 2],
]);

/** Through all tables of nf_tables. */
export class NfTablesWalk implements PacketWalk {
  constructor(private readonly machine: Pick<Machine, 'nfTables' | 'addresses'>) {}

  walk(packet: Packet): readonly TracedEnding[] {
    const { nfTables, addresses } = this.machine;
    const tables = nfTables.kernelTables(packet.family === 'IPv4' ? 'ip' : 'ip6');
    const ruleset = { tables, deviceNumbers: DEVICES };
    return new RulesetWalk(ruleset, packet, addresses, nfTables.findElement, () => undefined).endings();
  }
}
