import type { FindElement } from '../../../src/domain/nftables/kernel/elements.js';
import type { KernelChain, KernelTable } from '../../../src/domain/nftables/kernel/ruleset.js';
import { RulesetWalk } from '../../../src/domain/nftables/kernel/ruleset-walk.js';
import type { Packet } from '../../../src/domain/trace/packet.js';
import type { TracedEnding } from '../../../src/domain/trace/traced-ending.js';
import type { Machine } from '../kernel/machine.js';
import type { Inquiry } from './inquiry.js';
import type { PacketWalk } from './packet-walk.js';
import { RememberedWalk } from './remembered-walk.js';

const DEVICES: ReadonlyMap<string, number> = new Map([
  ['lo', 1],
  ['eth0', 2],
]);

type TableName = Pick<KernelTable, 'family' | 'name'>;

/** Through all tables of nf_tables. */
export class NfTablesWalk implements PacketWalk {
  private readonly remembered = new RememberedWalk((packet, inquiry) => this.send(packet, inquiry));

  constructor(private readonly machine: Pick<Machine, 'nfTables' | 'localAddresses'>) {}

  walk(packet: Packet): readonly TracedEnding[] {
    return this.remembered.walk(packet);
  }

  private send(packet: Packet, inquiry: Inquiry): readonly TracedEnding[] {
    const family = packet.family === 'IPv4' ? 'ip' : 'ip6';
    const { machine } = this;
    const { nfTables } = machine;
    inquiry.ask(() => nfTables.kernelTables(family).map(baseChains).join('\n'));
    const tables = nfTables.kernelTables(family).map((table) => this.asked(table, inquiry));
    const find: FindElement = (table, set, key) =>
      inquiry.ask(() => {
        const current = this.current(table);
        return current && nfTables.findElement(current, set, key);
      });
    const ruleset = { tables, deviceNumbers: DEVICES };
    const addresses = { has: (text: string) => inquiry.ask(() => machine.localAddresses.has(text)) };
    return new RulesetWalk(ruleset, packet, addresses, find, () => undefined).endings();
  }

  private asked(table: KernelTable, inquiry: Inquiry): KernelTable {
    const find = (name: string): KernelChain | undefined =>
      inquiry.ask(() => this.current(table)?.chains.get(name));
    for (const { name, hook } of table.chains.values()) if (hook) find(name);
    return { ...table, chains: new AskedChains(table.chains, find) };
  }

  private current({ family, name }: TableName): KernelTable | undefined {
    return this.machine.nfTables.kernelTable(family, name);
  }
}

/** Chains that ask whenever one is looked for. */
class AskedChains extends Map<string, KernelChain> {
  constructor(
    chains: ReadonlyMap<string, KernelChain>,
    private readonly find: (name: string) => KernelChain | undefined,
  ) {
    super(chains);
  }

  override get(name: string): KernelChain | undefined {
    return this.find(name);
  }
}

const known = new WeakMap<KernelTable, string>();

/** Which table it is, and which chains packets come to first. */
function baseChains(table: KernelTable): string {
  let text = known.get(table);
  if (text === undefined) {
    const bases = [...table.chains.values()].filter(({ hook }) => hook);
    text = [table.number, table.family, table.name, ...bases.map(({ name }) => name)].join(' ');
    known.set(table, text);
  }
  return text;
}
