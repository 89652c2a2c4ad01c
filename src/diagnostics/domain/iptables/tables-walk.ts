import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import { isLoopback } from '../../../domain/net/address.js';
import type { Packet, PacketEnvironment } from '../trace/packet.js';
import type { TracedEnding } from '../trace/traced-ending.js';
import { ChainWalk } from '../walk/chain-walk.js';
import { endingOf, startOf, type HookName } from '../walk/course.js';
import { HookPath, translating, type Station } from '../walk/hook-path.js';
import { localTo } from '../walk/local-addresses.js';
import type { Watch } from '../walk/watch.js';
import { TablesCourse, type Surroundings } from './course.js';
import type { DeviceTowards } from './known-devices.js';
import { RuleRun } from './rule-run.js';
import type { RuleSource } from './rule-source.js';
import type { WalkedRule } from './rule.js';
import { familyOf } from '../../../domain/net/ip-family.js';

/** What belongs to a walk besides the tables. */
export interface TablesWalkOptions {
  /** What match `set` can look up. */
  readonly sets?: ReadonlyMap<string, IpSet>;
  readonly devices?: DeviceTowards | undefined;
  readonly watch?: Watch | undefined;
  /** What takes packets on their way through the tables, other than their rules. */
  readonly balancer?: Station<TablesCourse>;
  /** What takes those that the tables sent to an endpoint, or left alone. */
  readonly process?: Station<TablesCourse>;
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
 * every possible ending: where rules apply by chance, with each chance. What a rule of another program does that cannot be
 * understood is told in a step, and the packet goes on as if the rule did not hold.
 */
export function walkTables(
  rules: RuleSource,
  packet: Packet,
  environment: PacketEnvironment,
  options: TablesWalkOptions = {},
): readonly TracedEnding[] {
  const { sets = new Map(), devices = () => undefined, balancer = stay, process = stay, watch } = options;
  const { localAddresses, remembered } = environment;
  const isSilent = watch ? !watch.wantsSteps : environment.isSilent === true;
  const isLocal = localTo(environment, packet);
  const surroundings: Surroundings = {
    isLocal,
    // Few rules ask for it.
    get ownAddress() {
      return ownAddressIn(localAddresses, packet);
    },
    deviceTowards: devices,
    sets,
    remembers: (list, address) => remembered?.get(list)?.has(address) === true,
    watch,
  };
  const run = new RuleRun(rules, surroundings);
  const chains = new ChainWalk<TablesCourse, WalkedRule>((rule, course) => run.meet(rule, course));
  const sentAnewIfAway = (course: TablesCourse): TablesCourse =>
    course.with({ isSentAnew: course.virtualServer !== undefined && !isLocal(course.destination) });
  const builtIn = (table: string, course: TablesCourse): readonly TablesCourse[] => {
    const name = course.hook.toUpperCase();
    const chain = rules.chain(table, name);
    // This program sets no policies.
    const policy = { where: `${table} ${name}`, rule: `-P ${name} DROP`, isForeign: true } as const;
    return chain ? chains.base(chain, course, chain.drops && policy) : [course];
  };
  const stationOf =
    (table: string): Station<TablesCourse> =>
    (course) =>
      builtIn(table, course);
  const stations: Readonly<Record<string, Station<TablesCourse>>> = {
    raw: stationOf('raw'),
    mangle: stationOf('mangle'),
    nat: translating((course) => (course.isUntracked ? [course] : builtIn('nat', course))),
    filter: stationOf('filter'),
    security: stationOf('security'),
    ipvs: (course) => (course.virtualServer ? [course] : balancer(course).map(sentAnewIfAway)),
  };
  const path = new HookPath<TablesCourse>((hook) => TABLES[hook].map((table) => stations[table]!), isLocal);
  return path
    .follow(new TablesCourse(startOf(packet, isSilent)))
    .flatMap((course) => (course.verdict ? [course] : process(course)))
    .map((course) => endingOf(course, course.isTranslated || course.virtualServer !== undefined));
}

function stay(course: TablesCourse): readonly TablesCourse[] {
  return [course];
}

/** One that is no loopback address, if there is one. */
function ownAddressIn(addresses: ReadonlySet<string>, { family }: Packet): string {
  for (const text of addresses) if (familyOf(text) === family && !isLoopback({ family, text })) return text;
  return family === 'IPv4' ? '127.0.0.1' : '::1';
}
