import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import { isLoopback } from '../../../domain/net/address.js';
import type { Packet, PacketEnvironment, PacketPath } from '../trace/trace.js';
import {
  ChainWalk,
  nextRule,
  shareText,
  uncertain,
  type Chain,
  type RuleResult,
} from '../walk/chain-walk.js';
import { verdictOf, initialState, type HookName, type Watch, shareOf } from '../walk/packet-state.js';
import { HookPath, translating, type HookHandler, localTo } from '../walk/hook-path.js';
import type { ConditionInputs } from './conditions.js';
import type { DeviceTowards } from '../walk/on-demand.js';
import { PacketState } from '../walk/packet-state.js';
import { type RuleSource, type WalkedRule, appliesTo } from './rule.js';
import { familyOf } from '../../../domain/net/ip-family.js';
import { pass, type Target } from './target.js';

/** What belongs to a walk besides the tables. */
export interface TablesWalkOptions {
  /** What match `set` can look up. */
  readonly sets?: ReadonlyMap<string, IpSet>;
  readonly devices?: DeviceTowards | undefined;
  readonly watch?: Watch | undefined;
  /** What takes packets on their way through the tables, other than their rules. */
  readonly balancer?: HookHandler<PacketState>;
  /** What takes those that the tables sent to an endpoint, or left alone. */
  readonly process?: HookHandler<PacketState>;
}

/** In the order in which packets meet them. IPVS sees those to this node before they are translated, those of this node after that. */
const TABLES: Readonly<Record<HookName, readonly string[]>> = {
  prerouting: ['raw', 'mangle', 'nat'],
  input: ['mangle', 'filter', 'security', 'ipvs', 'nat'],
  forward: ['mangle', 'filter', 'security'],
  output: ['raw', 'mangle', 'nat', 'ipvs', 'filter', 'security'],
  postrouting: ['mangle', 'nat'],
};

/**
 * Sends a packet, the first of its connection, through the tables of iptables, hook by hook, as the kernel would, and returns
 * every possible path: where rules apply by chance, with each chance. What a rule of another program does that cannot be
 * supported is reported in a step, and the packet continues as if the rule did not match.
 */
export function walkTables(
  rules: RuleSource,
  packet: Packet,
  environment: PacketEnvironment,
  options: TablesWalkOptions = {},
): readonly PacketPath[] {
  const { sets = new Map(), devices = () => undefined, balancer = stay, process = stay, watch } = options;
  const { localAddresses, remembered } = environment;
  const isLocal = localTo(environment, packet);
  const inputs: ConditionInputs = {
    isLocal,
    // Few rules require it.
    get ownAddress() {
      return ownAddressIn(localAddresses, packet);
    },
    deviceTowards: devices,
    sets,
    remembers: (list, address) => remembered?.get(list)?.has(address) === true,
    watch,
  };
  const run = new RuleRun(rules, inputs);
  const chains = new ChainWalk<PacketState, WalkedRule>((rule, state) => run.meet(rule, state));
  const sentAnewIfAway = (state: PacketState): PacketState =>
    state.with({ isSentAnew: state.virtualServer !== undefined && !isLocal(state.destination) });
  const builtIn = (table: string, state: PacketState): readonly PacketState[] => {
    const name = state.hook.toUpperCase();
    const chain = rules.chain(table, name);
    // This program sets no policies.
    const policy = { where: `${table} ${name}`, rule: `-P ${name} DROP`, foreign: true } as const;
    return chain ? chains.base(chain, state, chain.drops && policy) : [state];
  };
  const chainOf =
    (table: string): HookHandler<PacketState> =>
    (state) =>
      builtIn(table, state);
  const handlers: Readonly<Record<string, HookHandler<PacketState>>> = {
    raw: chainOf('raw'),
    mangle: chainOf('mangle'),
    nat: translating((state) => (state.isUntracked ? [state] : builtIn('nat', state))),
    filter: chainOf('filter'),
    security: chainOf('security'),
    ipvs: (state) => (state.virtualServer ? [state] : balancer(state).map(sentAnewIfAway)),
  };
  const hooks = new HookPath<PacketState>((hook) => TABLES[hook].map((table) => handlers[table]!), isLocal);
  return hooks
    .follow(new PacketState(initialState(packet)))
    .flatMap((state) => (state.verdict ? [state] : process(state)))
    .map((state) => verdictOf(state, state.isTranslated || state.virtualServer !== undefined));
}

function stay(state: PacketState): readonly PacketState[] {
  return [state];
}

/** One that is no loopback address, if there is one. */
function ownAddressIn(addresses: ReadonlySet<string>, { family }: Packet): string {
  for (const text of addresses) if (familyOf(text) === family && !isLoopback({ family, text })) return text;
  return family === 'IPv4' ? '127.0.0.1' : '::1';
}

type TablesResult = RuleResult<PacketState, WalkedRule>;

/** Evaluates rules of tables. */
class RuleRun {
  /** The lists of clients that rules of table nat asked. */
  private readonly lookedUp = new Set<string>();

  constructor(
    private readonly rules: RuleSource,
    private readonly inputs: ConditionInputs,
  ) {}

  /** Where the rule leads: two results where it applies by chance, none where it has nothing to do with the packet. */
  meet(rule: WalkedRule, state: PacketState): readonly TablesResult[] | undefined {
    const { table, meaning } = rule;
    const { target, chance, lookups, remembers } = meaning;
    if (table === 'nat') for (const list of lookups) this.lookedUp.add(list);
    const applies = appliesTo(meaning, state, this.inputs);
    if (applies === false || (target === pass && remembers.length === 0)) return undefined;
    if (applies !== true)
      return [uncertain(state, `cannot tell whether ${applies.unclear} holds; assumed not to`)];
    const called = typeof target === 'function' ? undefined : this.called(table, target.name, state);
    const leadsNowhere = typeof target !== 'function' && target.verb === 'jump' && called?.rules.length === 0;
    if (leadsNowhere && remembers.length === 0) return undefined;
    const result = this.act(target, called, this.remembering(table, remembers, shareOf(state, chance)));
    if (chance >= 1) return [result];
    const { effect } = result;
    return [
      { ...result, ...(effect !== undefined && { effect: `${effect} by chance, ${shareText(chance)}` }) },
      nextRule(shareOf(state, 1 - chance)),
    ];
  }

  /** What of a chain may concern the packet. */
  private called(table: string, name: string, state: PacketState): Chain<WalkedRule> | undefined {
    const found = this.rules.chain(table, name);
    return found?.narrowed?.(state) ?? found;
  }

  private act(target: Target, chain: Chain<WalkedRule> | undefined, state: PacketState): TablesResult {
    if (typeof target === 'function') return target(state, this.inputs);
    const { verb, name } = target;
    if (!chain) return uncertain(state, `cannot tell what target ${name} does; assumed to do nothing`);
    return { state, to: { verb, chain }, effect: `${verb} ${name}` };
  }

  /** A client that is remembered in a list that these rules ask comes to the same rule again. */
  private remembering(table: string, remembers: readonly string[], state: PacketState): PacketState {
    const lists = table === 'nat' ? remembers.filter((list) => this.lookedUp.has(list)) : [];
    if (lists.length === 0) return state;
    if (!this.inputs.watch) return state.with({ isSticky: true });
    const clients = new Set([state.source]);
    return state.with({ isSticky: true, memory: new Map(lists.map((list) => [list, clients])) });
  }
}
