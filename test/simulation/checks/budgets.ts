import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';
import { longestRetryPause } from './retry-delays.js';

/** Changes that users make, and controllers. */
const OF_USERS: ReadonlySet<string> = new Set([
  'put',
  'delete',
  'take-over',
  'flows',
  'pod-networks',
  'relabel',
  'misconfigure',
  'service-ranges',
]);
const ENDS: ReadonlySet<string> = new Set(['kill', 'terminate', 'restart', 'interrupt']);
/** After which a watch goes on where it was, whatever else the way to the API server does, and however often it is refused. */
const WITHOUT_LISTS: ReadonlySet<string> = new Set([
  'watches-cut',
  'watches-end',
  'watches-end-at-once',
  'watches-hang',
  'new-watches-hang',
  'bookmarks',
  'too-many-requests',
  'server-errors',
  'internal-errors',
  'gateway-timeouts',
  'json-only',
  'protobuf-again',
  'connections-break',
  'refused',
  'unreachable',
  'half-open',
  'in-small-pieces',
  'slow',
  'cache-behind',
]);
/** What has nothing to do with the way to the API server. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(['foreign', 'kernel-fault', 'program-fault', 'clock']);

/** After which connections may be there of which nobody notices for minutes that nothing comes through them. */
const LEAVES_SILENCE: ReadonlySet<string> = new Set([
  'watches-hang',
  'new-watches-hang',
  'lists-never-end',
  'unreachable',
  'half-open',
]);

const OTHERS: ReadonlySet<string> = new Set(['foreign', 'kube-proxy', 'go-back']);

/**
 * What is refused while such a thing goes on is tried again: after a second, then after twice as long each time
 * (docs/behavior/recovery.md).
 */
const REFUSING: Readonly<Record<string, readonly string[]>> = {
  'kernel-fault': ['batches', 'service', 'virtual-servers'],
  'program-fault': ['fails', 'rules-refused', 'set-lines-refused'],
};
/**
 * Simulated milliseconds: within which changes of users are programmed, in the modes that write each at once and in those that space
 * writes.
 */
const AT_ONCE = { nftables: 1_000, iptables: 3_000, ipvs: 3_000, userspace: 3_000 } as const;
/**
 * The same for requests to the API server; then it may wait for another second, as one server asks for, and lists
 * (docs/behavior/life-cycle.md).
 */
const REQUESTS = { least: 1_600, most: 60_000, besides: 8_000 } as const;
/** A watch that gets nothing is closed after two minutes and a half. */
const SILENT_WATCH = 150_000;
const SILENCE = SILENT_WATCH + REQUESTS.most + REQUESTS.besides;
/** A process ends within two seconds and programs everything within three; one that fails is started again after five. */
const RESTART = 10_000;
const START = 3_000;
/** An iptables tool that hangs is given up. */
const TOOL_GIVEN_UP = 300_000;
/** An endpoint falls silent for 20 s, and is ejected for half a minute at first (docs/behavior/failover.md). */
const EJECTION = 60_000;
/** Rules of other modes are removed once those of the present one have been there for ten seconds, if some are rejected. */
const OTHER_MODES = 15_000;
/** Addresses, devices and objects of the node that are back when all trouble ends. */
const NODE = 2_000;
/** What came while two Services had an address, until one of them is gone. */
const SHARED_ADDRESS = 2_500;
/**
 * Mode nftables hears of every write of others, and repairs within a second or two (docs/internals/nftables.md); the others look once in a
 * sync period.
 */
const REPAIR = { nftables: 5_000, iptables: 40_000, ipvs: 40_000, userspace: 40_000 } as const;

/**
 * A rule has come in place of one of the same size, of which iptables-legacy shows nothing: it is found when all is compared
 * (docs/internals/iptables.md).
 */
const UNSEEN = 'iptables-move-rule';
/** That may take such a part of the time, and a start counts as one, however long it waited for a lock; after an hour it is done anyway. */
const COMPARED = { share: 5_000, within: 3_600_000 } as const;
/** What is logged when everything is written, with the milliseconds that it took. */
export const STARTED = 'programmed everything';

/** Something that delays what users asked for, and for how long when it is over. */
type Delay = readonly [kind: string, milliseconds: number];

/**
 * How long it may take until the kernel has everything, after all that has happened is over, in milliseconds: each kind of trouble among
 * these steps delays it as the documents have it.
 */
export function timeToQuiet(simulation: Simulation, steps: readonly Step[]): number {
  const { cluster, mode, modes, world } = simulation;
  const delays = new Map<string, number>([['users', AT_ONCE[mode] + 2 * minSyncPeriod(simulation)]]);
  const add = ([kind, milliseconds]: Delay): unknown =>
    delays.set(kind, Math.max(delays.get(kind) ?? 0, milliseconds));
  for (const step of steps) for (const delay of delaysBy(simulation, step)) add(delay);
  // Of a former round, too: all may be quiet while a start waits for it.
  if (world.proxy.children.some(({ isHanging }) => isHanging)) add(['tools', TOOL_GIVEN_UP]);
  if (!cluster.isFollowedCompletely) add(['requests', REQUESTS.most + REQUESTS.besides]);
  if (mayFindSilence(simulation)) add(['requests', SILENCE]);
  if (modes.size > 1) add(['other modes', OTHER_MODES]);
  const sum = [...delays.values()].reduce((total, delay) => total + delay, 0);
  // What others did to a Service without endpoints shows when it gets some, and is repaired no sooner for that.
  return Math.max(sum, repairedUntil(simulation) - world.now + AT_ONCE[mode]);
}

function delaysBy(simulation: Simulation, step: Step): readonly Delay[] {
  const { mode } = simulation;
  const { name, args } = step;
  const lasted = simulation.timeSince(step);
  const retries: Delay = ['retries', longestRetryPause(lasted)];
  const restart = (pause: number): Delay => ['process', pause + RESTART];
  switch (name) {
    case 'start':
      return [['start', START]];
    case 'take-over':
      return [['users', AT_ONCE[mode] + SHARED_ADDRESS]];
    case 'kernel-fault':
    case 'program-fault':
      // One that cannot start without it ends.
      return [retries, restart(0), ...(UNHEARD.has(args[0]!) ? [['others', REPAIR[mode]] as const] : [])];
    case 'trouble':
    case 'slices-behind':
      return [['requests', clamped(lasted, REQUESTS.least, REQUESTS.most) + REQUESTS.besides]];
    case 'foreign':
    case 'kube-proxy':
      return [['others', args[0] === UNSEEN ? timeToRepair(simulation) : REPAIR[mode]]];
    case 'go-back':
      return [restart(2 * longestPause(args)), ['others', REPAIR[mode]]];
    case 'silence':
      return [['ejection', EJECTION]];
    case 'node':
    case 'pod-networks':
      return [['node', NODE]];
    default:
      return ENDS.has(name) ? [restart(longestPause(args))] : [];
  }
}

/** The faults of which the program learns late that others have written. */
const UNHEARD: ReadonlySet<string> = new Set(['notifications', 'commits']);

/** Steps in which a process ends name the milliseconds until the next one begins among numbers that are smaller. */
function longestPause(args: readonly string[]): number {
  return Math.max(0, ...args.map(Number).filter((number) => number >= 0));
}

/** How far apart the arguments want writes to be (docs/configuration/README.md), in milliseconds. */
export function minSyncPeriod(simulation: Simulation): number {
  return 1_000 * parseFloat(simulation.argument('--iptables-min-sync-period=') ?? '0');
}

function clamped(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** Whether nothing happened in these steps but changes of users and refusals. */
export function areRefusals(steps: readonly Step[]): boolean {
  return steps.every((step) => OF_USERS.has(step.name) || refuses(step));
}

/** Until when what others wrote may not be repaired yet: of some of it packets tell nothing, and all seems quiet. */
export function repairedUntil(simulation: Simulation): number {
  return simulation.othersWroteAt + timeToRepair(simulation);
}

/** In milliseconds, also where it is not seen that they wrote. */
function timeToRepair(simulation: Simulation): number {
  const { mode, world } = simulation;
  if (!seesNoMoves(simulation)) return REPAIR[mode];
  const starts = world.log.filter(({ message }) => message === STARTED);
  const times = starts.map(({ facts }) => (facts as { readonly ms: number }).ms);
  const pause = Math.min(COMPARED.share * Math.max(0, ...times), COMPARED.within);
  return pause + REPAIR[mode];
}

function seesNoMoves({ mode, world }: Simulation): boolean {
  return mode !== 'nftables' && world.settings.iptables === 'legacy';
}

/** Whether others write in this step, or from then on until trouble ends. */
export function isOfOthers({ name }: Step): boolean {
  return OTHERS.has(name);
}

/** Whether something may be refused after this step, until trouble ends. */
export function refuses({ name, args: [what = ''] }: Step): boolean {
  return REFUSING[name]?.includes(what) ?? false;
}

/** Whether a watch may be about to be found silent, and what it has missed may have to be listed. */
export function mayFindSilence(simulation: Simulation): boolean {
  return simulation.world.now < silenceFoundUntil(simulation);
}

/** Until when the program may not have heard of what was written last: of some of it packets tell nothing, and all seems quiet. */
function silenceFoundUntil({ silencedAt }: Simulation): number {
  return silencedAt + SILENCE;
}

/** Whether connections to the API server may be silent after this step, even when all trouble has ended. */
export function leavesSilence({ name, args: [what = ''] }: Step): boolean {
  return name === 'trouble' && LEAVES_SILENCE.has(what);
}

/** Lists of everything, in pages or as watches that begin with it; a single object tells where the API server stands. */
export function listsSoFar({ cluster }: Simulation): number {
  return cluster.api.requests.filter(
    ({ verb, query: { limit, sendInitialEvents } }) =>
      (verb === 'list' && limit !== '1') || (verb === 'watch' && sendInitialEvents === 'true'),
  ).length;
}

/** Whether what has happened is no reason to list anything. */
export function needsNoLists(steps: readonly Step[]): boolean {
  return steps.every(
    ({ name, args: [what = ''] }) =>
      OF_USERS.has(name) || OF_THE_MACHINE.has(name) || (name === 'trouble' && WITHOUT_LISTS.has(what)),
  );
}
