import { getOrMake } from '../../../src/domain/model/maps.js';
import type { FindElement } from '../../../src/diagnostics/domain/nftables/elements.js';
import type {
  KernelChain,
  KernelElement,
  KernelRuleset,
  KernelSet,
  KernelTable,
} from '../../../src/domain/nftables/kernel/ruleset.js';
import { RulesetWalk } from '../../../src/diagnostics/domain/nftables/ruleset-walk.js';
import { nftFamily } from '../../../src/domain/nftables/layout/table.js';
import type { Packet, PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';
import { FAMILIES } from '../kernel/nf-tables/nf-tables.js';
import { SET_FLAG } from '../kernel/nf-tables/numbers.js';
import { isFlagged } from '../kernel/nf-tables/objects.js';
import type { Machine } from '../kernel/machine.js';
import { answeredOnce, ANYTHING, Inquiry } from './inquiry.js';
import { LEFT_ALONE, type PacketWalk } from './packet-walk.js';
import { RememberedWalk } from './remembered-walk.js';

const DEVICES: ReadonlyMap<string, number> = new Map([
  ['lo', 1],
  ['eth0', 2],
]);

type TableName = Pick<KernelTable, 'family' | 'name'>;
/** Undefined where there is none. */
type FindThe<Found> = () => Found | undefined;
type FindChain = (name: string) => KernelChain | undefined;
type IpTables = Exclude<KernelTable['family'], 'inet'>;

/** What packets of a family come to. */
interface Met {
  readonly bases: readonly (KernelChain | undefined)[];
  readonly ruleset: KernelRuleset;
}

/** Through all tables of nf_tables. */
export class NfTablesWalk implements PacketWalk {
  private readonly remembered = new RememberedWalk((packet, inquiry) => this.send(packet, inquiry));
  private readonly names: Readonly<Record<IpTables, () => string>>;
  private readonly chains = new Map<string, FindChain>();
  private readonly elements = new Map<string, FindThe<KernelElement>>();
  private readonly met = new Map<IpTables, Met>();
  /** Of the packet that is on its way. */
  private inquiry = new Inquiry();

  constructor(private readonly machine: Pick<Machine, 'nfTables' | 'links' | 'localAddresses'>) {
    const { nfTables } = machine;
    const namesIn = (family: IpTables) =>
      answeredOnce(nfTables, () => namesOf(nfTables.kernelTables(family)));
    this.names = { ip: namesIn('ip'), ip6: namesIn('ip6') };
  }

  walk(packet: Packet): readonly PacketPath[] {
    return this.remembered.walk(packet);
  }

  private send(packet: Packet, inquiry: Inquiry): readonly PacketPath[] {
    const family = nftFamily(packet.family);
    const { machine } = this;
    const { nfTables, links } = machine;
    const names = inquiry.ask(nfTables, this.names[family]);
    if (names === '') return LEFT_ALONE;
    this.inquiry = inquiry;
    const find: FindElement = (table, set, key) =>
      this.isTimed(table, set.name)
        ? inquiry.ask(ANYTHING, this.elementOf(table, set, key))
        : inquiry.ask(nfTables, this.sharedElementOf(table, set, key));
    const addresses = { has: (text: string) => inquiry.ask(links, () => machine.localAddresses.has(text)) };
    const ruleset = this.ruleset(family);
    return new RulesetWalk(ruleset, packet, addresses, find, () => undefined).paths();
  }

  /** The same object as long as the base chains are the same, so that what walks make of chains is kept. */
  private ruleset(family: IpTables): KernelRuleset {
    const tables = this.machine.nfTables.kernelTables(family);
    const bases = tables.flatMap((table) => {
      const find = this.chainsOf(table);
      return baseChainsOf(table).chains.map(({ name }) => find(name));
    });
    const known = this.met.get(family);
    if (known?.bases.length === bases.length && bases.every((base, at) => base === known.bases[at]))
      return known.ruleset;
    const ruleset = { tables: tables.map((table) => this.asked(table)), deviceNumbers: DEVICES };
    this.met.set(family, { bases, ruleset });
    return ruleset;
  }

  private asked(table: KernelTable): KernelTable {
    const { family, name, number } = table;
    const chains = new AskedChains(baseChainsOf(table).chains, this.chainsOf(table));
    const setsOf = (): KernelTable['sets'] => this.current(table)?.sets ?? table.sets;
    return {
      family,
      name,
      number,
      chains,
      get sets() {
        return setsOf();
      },
    };
  }

  /** Looks chains of a table up for the packet that is on its way. */
  private chainsOf(table: TableName): FindChain {
    return getOrMake(this.chains, `${table.family} ${table.name}`, () => {
      const { nfTables } = this.machine;
      const questions = new Map<string, FindThe<KernelChain>>();
      const questionOf = (name: string) =>
        answeredOnce(nfTables, () => this.current(table)?.chains.get(name));
      return (name) =>
        this.inquiry.ask(
          nfTables,
          getOrMake(questions, name, () => questionOf(name)),
        );
    });
  }

  private elementOf(table: TableName, set: KernelSet, key: Uint8Array): FindThe<KernelElement> {
    return () => {
      const current = this.current(table);
      return current && this.machine.nfTables.findElement(current, set, key);
    };
  }

  private sharedElementOf(table: TableName, set: KernelSet, key: Uint8Array): FindThe<KernelElement> {
    const place = `${table.family} ${table.name} ${set.name} ${key.join(' ')}`;
    return getOrMake(this.elements, place, () =>
      answeredOnce(this.machine.nfTables, this.elementOf(table, set, key)),
    );
  }

  private current({ family, name }: TableName): KernelTable | undefined {
    const met = this.machine.nfTables.kernelTables(family === 'ip6' ? 'ip6' : 'ip');
    return met.find((table) => table.name === name && table.family === family);
  }

  /** Whether elements of the set may go because their time is over. */
  private isTimed({ family, name }: TableName, set: string): boolean {
    const found = this.machine.nfTables.view(FAMILIES[family], name)?.sets.get(set);
    return !found || isFlagged(found, SET_FLAG.TIMEOUT);
  }
}

/** Chains that ask whenever one is looked for. Of all of them only base chains are told. */
class AskedChains extends Map<string, KernelChain> {
  constructor(
    private readonly bases: readonly KernelChain[],
    private readonly find: FindChain,
  ) {
    super();
  }

  override get(name: string): KernelChain | undefined {
    return this.find(name);
  }

  override values(): MapIterator<KernelChain> {
    return this.bases.values();
  }
}

/** The chains that packets come to first. */
interface BaseChains {
  readonly chains: readonly KernelChain[];
  /** Theirs, and which table it is. */
  readonly names: string;
}

const NAMES = new WeakMap<readonly KernelTable[], string>();

function namesOf(tables: readonly KernelTable[]): string {
  return getOrMake(NAMES, tables, () => tables.map((table) => baseChainsOf(table).names).join('\n'));
}

const BASE_CHAINS = new WeakMap<KernelTable, BaseChains>();

function baseChainsOf(table: KernelTable): BaseChains {
  return getOrMake(BASE_CHAINS, table, () => {
    const chains = [...table.chains.values()].filter(({ hook }) => hook);
    const names = [table.number, table.family, table.name, ...chains.map(({ name }) => name)].join(' ');
    return { chains, names };
  });
}
