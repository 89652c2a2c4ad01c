import { getOrMake } from '../../../domain/model/maps.js';
import type { Packet, PacketPath, PacketEnvironment } from '../trace/trace.js';
import { ChainWalk } from '../walk/chain-walk.js';
import { verdictOf, initialState, type HookName } from '../walk/packet-state.js';
import { HookPath, translating, type HookHandler, localTo } from '../walk/hook-path.js';
import { type FindElement, ElementStore, type ReadElements } from './elements.js';
import { KernelPacketState, headersOf, type Devices } from './kernel-packet-state.js';
import { ListedChains, policyOf, type ListedRule } from './listed-rule.js';
import { RuleRun, type Watching } from './rule-run.js';
import type {
  KernelChain,
  KernelHook,
  KernelRuleset,
  KernelTable,
} from '../../../domain/nftables/kernel/ruleset.js';
import { walkWithDevices } from '../walk/on-demand.js';

interface BaseChain {
  readonly table: KernelTable;
  readonly chain: KernelChain;
  readonly hook: KernelHook;
}

/** The kernel translates at these priorities, whatever the chains say (NF_IP_PRI_NAT_DST, NF_IP_PRI_NAT_SRC). */
const NAT_PRIORITY: Readonly<Partial<Record<HookName, number>>> = {
  prerouting: -100,
  output: -100,
  input: 100,
  postrouting: 100,
};

/** The base chains of a hook in the order in which packets meet them. */
interface AtHook {
  readonly before: readonly BaseChain[];
  /** Met as one. Missing where nothing is translated. */
  readonly translating?: readonly BaseChain[];
  readonly after: readonly BaseChain[];
}

/** Packets are many, and so may chains be. */
const AT_HOOKS = new WeakMap<KernelRuleset, (hook: HookName) => AtHook>();

function atHooksOf({ tables }: KernelRuleset): (hook: HookName) => AtHook {
  const found = tables.flatMap((table) =>
    [...table.chains.values()].flatMap((chain) => (chain.hook ? [{ table, chain, hook: chain.hook }] : [])),
  );
  // The kernel puts a hook before those of the same priority that were there already.
  found.sort(
    (one, other) =>
      one.hook.priority - other.hook.priority ||
      other.table.number - one.table.number ||
      other.chain.number - one.chain.number,
  );
  const known = new Map<HookName, AtHook>();
  return (hook) => getOrMake(known, hook, () => atHook(hook, found));
}

function atHook(name: HookName, found: readonly BaseChain[]): AtHook {
  const all = found.filter(({ hook }) => hook.hook === name);
  const natPriority = NAT_PRIORITY[name];
  if (natPriority === undefined) return { before: all, after: [] };
  const others = all.filter(({ hook }) => hook.type !== 'nat');
  return {
    before: others.filter(({ hook }) => hook.priority < natPriority),
    translating: all.filter(({ hook }) => hook.type === 'nat'),
    after: others.filter(({ hook }) => hook.priority >= natPriority),
  };
}

/** The chains of a family that its packets came to. */
const LISTED = new WeakMap<KernelRuleset, ListedChains>();

/** Sends a packet through all chains of nf_tables, and returns every possible path. */
export class RulesetWalk {
  private readonly chains: ListedChains;
  private readonly walk: ChainWalk<KernelPacketState, ListedRule>;
  private readonly isLocal: (address: string) => boolean;

  constructor(
    private readonly ruleset: KernelRuleset,
    private readonly packet: Packet,
    localAddresses: Pick<ReadonlySet<string>, 'has'>,
    find: FindElement,
    towards: Devices['towards'],
    watching?: Watching,
  ) {
    this.isLocal = localTo({ localAddresses }, packet);
    this.chains = getOrMake(LISTED, ruleset, () => new ListedChains(packet.family));
    const devices = { towards, numbers: ruleset.deviceNumbers };
    const run = new RuleRun(this.chains, find, devices, this.isLocal, watching);
    this.walk = new ChainWalk((rule, state) => run.meet(rule, state));
  }

  paths(): readonly PacketPath[] {
    const { packet } = this;
    const start = new KernelPacketState(initialState(packet), headersOf(packet));
    const hooks = new HookPath<KernelPacketState>((hook) => this.handlers(hook), this.isLocal);
    return hooks.follow(start).map((state) => verdictOf(state));
  }

  private handlers(hook: HookName): readonly HookHandler<KernelPacketState>[] {
    const atHook = getOrMake(AT_HOOKS, this.ruleset, () => atHooksOf(this.ruleset));
    const { before, translating: nat, after } = atHook(hook);
    const of = (chains: readonly BaseChain[]) => chains.map((base) => this.handler(base));
    return [...of(before), ...(nat ? [translating(...of(nat))] : []), ...of(after)];
  }

  private handler({ table, chain }: BaseChain): HookHandler<KernelPacketState> {
    return (state) => this.walk.base(this.chains.of(table, chain), state, policyOf(table, chain));
  }
}

/**
 * Follows a packet through the rules of the kernel. Elements of sets are read when a rule looks for them, so that it costs what the
 * packet meets, not what the tables hold.
 * @param read reads elements; what it does not return does not exist
 */
export function follow(
  ruleset: KernelRuleset,
  packet: Packet,
  environment: PacketEnvironment,
  read: ReadElements,
): Promise<readonly PacketPath[]> {
  const { localAddresses } = environment;
  const elements = new ElementStore(read);
  return walkWithDevices(
    environment,
    (devices) => new RulesetWalk(ruleset, packet, localAddresses, elements.find, devices).paths(),
    elements,
  );
}
