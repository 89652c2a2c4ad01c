import { ExitCode, exitCodeOf } from '../../adapters/cli/exit-code.js';
import { type ComparedSide, type PlannedMode, comparisonLines } from '../adapters/cli/commands/compare.js';
import { formatted, print } from '../adapters/cli/output.js';
import { printError } from '../../adapters/cli/print-error.js';
import { dumpSides } from '../adapters/compare/dump-sides.js';
import { kernelSides } from '../adapters/compare/kernel-sides.js';
import { supportedFamilies } from '../../adapters/process/host-facts.js';
import { SystemClock } from '../../adapters/process/system-clock.js';
import {
  isEquivalent,
  familyReport,
  type ComparisonResult,
  type FamilyReport,
} from '../application/comparison-report.js';
import { ComparisonError, type FamilySides } from '../domain/compare/side.js';
import { errorMessage } from '../../application/error-message.js';
import type { Logger } from '../../application/ports/logger.js';
import type { ComparedNode } from '../domain/compare/clients.js';
import { rangeOf } from '../domain/compare/address-ranges.js';
import { parseCidr, type Cidr, cidrContains } from '../../domain/net/cidr.js';
import { familyOf, IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import { type Invocation, otherMachine, readObjects } from './read-objects.js';
import { followRelease } from '../../bootstrap/follow-release.js';
import { chooseMode } from '../../bootstrap/modes/choose-mode.js';
import { NodeAddresses } from '../../bootstrap/this-node.js';
import { methodOfScheduler } from '../../domain/balancing/balancing.js';
import { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { CommandLine } from '../../bootstrap/configuration/command-line.js';
import { localhostNodePortsChange, withMode } from '../../bootstrap/configuration/proxy-configuration.js';
import { ModeRules } from './mode-rules.js';
import { existsSync } from 'node:fs';
import { release } from 'node:os';
import { proxyChains } from '../../adapters/iptables/owned-chains.js';
import { IptablesTool } from '../../adapters/iptables/iptables-tool.js';
import { NetlinkVirtualServers } from '../../adapters/ipvs/netlink-virtual-servers.js';
import { NetlinkError } from '../../adapters/netlink/errors.js';
import { listChainsOfTables } from '../../adapters/nftables/netlink/table-listing.js';
import type { FoundRules, NodeRules } from '../domain/compare/node-rules.js';
import { TABLE_NAME } from '../../domain/nftables/layout/table.js';
import { withEachVariant } from '../../bootstrap/modes/iptables-access.js';

/**
 * Prints what two sets of rules do differently, and the rules that the kernel has if it is a side. 0 if nothing differs, 1 if something
 * does or is not understood, or the planned mode cannot run here.
 */
export async function compare(invocation: Invocation<'compare'>, logger: Logger): Promise<number> {
  const { sides, output } = invocation.request;
  const [one, other] = sides;
  const node = sides.some(isKernel) ? await readNodeRules(excludedBy(invocation)) : undefined;
  if (!other) {
    await print(formatted(output, { nodeRules: node }, comparisonLines));
    return ExitCode.ok;
  }
  const plan = sides.find(({ kind }) => kind === 'plan');
  const isLive = node !== undefined && plan !== undefined;
  const obstacle = isLive ? await obstacleTo(plan, invocation, logger) : undefined;
  let compared = await readAndCompare([one, other], invocation, logger);
  // A Service may have changed between the two sides.
  if (isLive && compared.families.some(hasUnexplained))
    compared = await readAndCompare([one, other], invocation, logger);
  for (const problem of compared.problems) printError(`ignored: ${problem}`);
  const result: ComparisonResult = {
    ...(node && { nodeRules: node }),
    ...(obstacle !== undefined && { obstacle }),
    sides: [nameOf(one), nameOf(other)],
    ...compared,
  };
  await print(formatted(output, result, comparisonLines));
  return exitCodeOf(obstacle !== undefined || !isEquivalent(compared.families));
}

function hasUnexplained({ differences }: FamilyReport): boolean {
  return differences.some(({ knownDifference }) => knownDifference === undefined);
}

type Compared = Pick<Required<ComparisonResult>, 'families' | 'localAddresses' | 'notes' | 'problems'>;

async function readAndCompare(
  sides: readonly [ComparedSide, ComparedSide],
  invocation: Invocation<'compare'>,
  logger: Logger,
): Promise<Compared> {
  const one = await readSide(sides[0], invocation, logger);
  const other = await readSide(sides[1], invocation, logger);
  const node = one.node ?? other.node ?? machine(logger);
  const { families, notes } = compareFamilies([one.families, other.families], node, invocation);
  return {
    families,
    localAddresses: node.localAddresses,
    notes: [...notes, ...new Set([...one.notes, ...other.notes])],
    problems: [...new Set([...one.problems, ...other.problems])],
  };
}

/** Why the planned mode cannot run on this machine. */
async function obstacleTo(
  plan: ComparedSide,
  invocation: Invocation<'compare'>,
  logger: Logger,
): Promise<string | undefined> {
  const { mode } = await chooseMode(
    plan.kind === 'plan' ? inMode(invocation, plan.mode) : invocation,
    logger,
  );
  try {
    await (await mode.open('compare')).close();
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** The networks whose virtual servers belong to other programs. */
function excludedBy({ configuration }: Invocation<'compare'>): readonly Cidr[] {
  return configuration.ipvs.excludeCIDRs.flatMap((text) => parseCidr(text) ?? []);
}

/** Compares each family that both sides have. @throws ComparisonError if there is no such family */
function compareFamilies(
  [one, other]: readonly [FamilySides, FamilySides],
  node: KnownNode,
  { request: { expected, limit }, configuration }: Invocation<'compare'>,
): Pick<ComparisonResult, 'families' | 'notes'> {
  const compared = IP_FAMILIES.filter((family) => one[family] && other[family]);
  if (compared.length === 0)
    throw new ComparisonError(
      `the two sides have no common IP family: one has ${familiesIn(one)}, the other ${familiesIn(other)}; compare rules of the same family, and give all files of a dump together, separated by commas`,
    );
  return {
    families: compared.map((family) =>
      familyReport(
        [one[family]!, other[family]!],
        comparedNode(node, configuration.clusterCIDR, family),
        new Set(expected),
        limit,
      ),
    ),
    notes: IP_FAMILIES.filter((family) => !compared.includes(family)).map(
      (family) => `${family} is not compared: a side has no rules of it`,
    ),
  };
}

/** The rules of a side, by family. */
interface ReadSide {
  readonly families: FamilySides;
  /** If the side knows it. */
  readonly node?: KnownNode;
  /** Objects that are not in a plan. */
  readonly problems: readonly string[];
  /** What the comparison of rules does not show, for people. */
  readonly notes: readonly string[];
}

async function readSide(
  side: ComparedSide,
  invocation: Invocation<'compare'>,
  logger: Logger,
): Promise<ReadSide> {
  switch (side.kind) {
    case 'kernel':
      return {
        families: await kernelSides(
          supportedFamilies(),
          invocation.request.proxiesOnly ? excludedBy(invocation) : undefined,
        ),
        problems: [],
        notes: [],
      };
    case 'dump':
      return { families: dumpSides(side.paths), problems: [], notes: [] };
    case 'plan':
      return plannedSides(invocation, side.mode, invocation.request.sides.some(isKernel), logger);
  }
}

function familiesIn(sides: FamilySides): string {
  return IP_FAMILIES.filter((family) => sides[family]).join(' and ') || 'none';
}

function isKernel({ kind }: ComparedSide): boolean {
  return kind === 'kernel';
}

function nameOf(side: ComparedSide): string {
  return side.kind === 'dump' ? side.paths[0]! : side.kind;
}

function machine(logger: Logger): KnownNode {
  const addresses = new NodeAddresses(new SystemClock(), logger);
  try {
    return { localAddresses: addresses.list(), podCIDRs: [] };
  } finally {
    addresses.close();
  }
}

function comparedNode(
  { localAddresses, podCIDRs }: KnownNode,
  clusterCIDRs: readonly string[],
  family: IpFamily,
): ComparedNode {
  const ranges = (texts: readonly string[]) =>
    texts.flatMap((text) => {
      const cidr = parseCidr(text);
      return cidr?.family === family ? [rangeOf(cidr)] : [];
    });
  return {
    family,
    localAddresses: new Set(localAddresses.filter((address) => familyOf(address) === family)),
    podNetworks: ranges(podCIDRs),
    clusterNetworks: ranges(clusterCIDRs),
  };
}

/** The node that rules are compared for. */
interface KnownNode {
  readonly localAddresses: readonly string[];
  readonly podCIDRs: readonly string[];
}

/**
 * Reads the objects once, and compiles them.
 * @param mode undefined: the one that is configured
 * @param isHere the node is this machine, whose kernel it is compared with
 * @throws ComparisonError in userspace mode
 */
async function plannedSides(
  invocation: CommandLine,
  mode: PlannedMode,
  isHere: boolean,
  logger: Logger,
): Promise<ReadSide> {
  const followed = await followRelease(invocation, logger);
  const { commandLine } = await chooseMode(inMode(followed, mode), logger);
  const rules = new ModeRules(commandLine.configuration, logger);
  const options = isHere ? { families: IP_FAMILIES } : otherMachine(logger).options;
  return readObjects(commandLine, options, logger, async ({ state, contexts, problems, parts }) => {
    const families: FamilySides = {};
    for (const family of IP_FAMILIES) {
      const { forwarding, network } = contexts.of(family, true);
      const entries = [...ForwardingTable.of(state, forwarding).entries()];
      const side = await rules.tracer(family).desired(entries, network);
      if (!('destinations' in side)) throw ComparisonError.userspace('the plan of userspace mode');
      families[family] = side;
    }
    const localAddresses = parts.localAddresses.list();
    return {
      families,
      node: { localAddresses, podCIDRs: state.node?.podCIDRs ?? [] },
      problems,
      notes: [...schedulerNotes(state, rules.mode), ...localhostNotes(state, commandLine)],
    };
  });
}

/** The command line with this mode; undefined: the configured one. */
function inMode(invocation: CommandLine, mode: PlannedMode): CommandLine {
  return mode === undefined
    ? invocation
    : { ...invocation, configuration: withMode(invocation.configuration, mode) };
}

/** How node ports on localhost change with a release, if there are node ports. */
function localhostNotes(state: ClusterState, { configuration }: CommandLine): readonly string[] {
  const change = localhostNodePortsChange(configuration);
  const hasNodePorts = [...state.serviceKeys()].some((key) =>
    state.service(key)!.ports.some(({ nodePort }) => nodePort > 0),
  );
  return change !== undefined && hasNodePorts ? [change] : [];
}

/** Schedulers that Services request, and that the mode does not have. */
function schedulerNotes(state: ClusterState, mode: string): readonly string[] {
  if (mode === 'ipvs') return [];
  const requested = new Set([...state.serviceKeys()].flatMap((key) => state.service(key)?.scheduler ?? []));
  return [...requested]
    .filter((name) => mode !== 'nftables' || methodOfScheduler(name) === undefined)
    .sort()
    .map((name) => `Services request the scheduler ${name}: ${mode} mode chooses at random`);
}

/**
 * Reads the rules that any service proxy has left on this machine, and changes nothing.
 * @param excluded virtual servers in these networks are of others
 */
async function readNodeRules(excluded: readonly Cidr[]): Promise<NodeRules> {
  const rules: FoundRules[] = [];
  const unseen = [...(await addIptables(rules))];
  for (const family of IP_FAMILIES) {
    const chains = await listChainsOfTables(family);
    const count = chains.filter(({ table }) => table === TABLE_NAME).length;
    if (count > 0) rules.push({ place: 'nftables', family, count });
  }
  const schedulers = await addVirtualServers(rules, unseen, excluded);
  return { kernel: release(), iptables: await iptablesHere(), rules, schedulers, unread: unseen };
}

function addIptables(rules: FoundRules[]): Promise<readonly string[]> {
  return withEachVariant(IP_FAMILIES, async (tool, variant, family) => {
    const saved = await tool.save(family);
    const chains = proxyChains(saved.flatMap((table) => table.chains.map(({ name }) => name)));
    if (chains.length > 0) rules.push({ place: `iptables-${variant}`, family, count: chains.length });
  });
}

/** A query for IPVS may load its module. */
const LOADED = '/proc/net/ip_vs';

/** @returns the schedulers that they use */
async function addVirtualServers(
  rules: FoundRules[],
  unseen: string[],
  excluded: readonly Cidr[],
): Promise<readonly string[]> {
  if (!existsSync(LOADED)) return [];
  const servers = new NetlinkVirtualServers();
  const schedulers = new Set<string>();
  try {
    for (const family of IP_FAMILIES) {
      const all = await servers.list(family);
      const listed = all.filter(({ address }) => !excluded.some((cidr) => cidrContains(cidr, address)));
      for (const { scheduler } of listed) schedulers.add(scheduler);
      if (listed.length > 0) rules.push({ place: 'ipvs', family, count: listed.length });
    }
  } catch (error) {
    if (!(error instanceof NetlinkError)) throw error;
    unseen.push(`cannot check for virtual servers: ${error.message}`);
  } finally {
    servers.close();
  }
  return [...schedulers].sort();
}

async function iptablesHere(): Promise<string> {
  const tool = new IptablesTool();
  try {
    const { variant, version } = await tool.identify();
    return `${variant} ${version}`;
  } catch (error) {
    return errorMessage(error);
  } finally {
    tool.close();
  }
}
