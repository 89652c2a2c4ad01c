import type { Step } from '../schedule/schedule.js';
import type { Simulation } from '../simulation.js';

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

/** What is refused while such a thing goes on is tried again: after a second, then after twice as long each time (docs/recovery.md). */
const REFUSING: Readonly<Record<string, readonly string[]>> = {
  'kernel-fault': ['batches', 'service', 'virtual-servers'],
  'program-fault': ['fails', 'rules-refused', 'set-lines-refused'],
};
const LONGEST_DELAY = 60_000;

/** Simulated milliseconds. */
const ANYTHING = 300_000;
const USERS = 15_000;
/** No process runs for so long at most; what it then takes over is compared at once, in mode nftables (docs/nftables-layout.md). */
const RESTART = 15_000 + 10_000;
/** Mode nftables hears of every write of others, and repairs within a second or two (docs/nftables-layout.md); the others look once in a sync period. */
const REPAIR = { nftables: 5_000, iptables: 60_000, ipvs: 60_000, userspace: 60_000 } as const;

/** A rule has come in place of one of the same size, of which iptables-legacy shows nothing: it is found when all is compared (docs/iptables.md). */
const UNSEEN = 'iptables-move-rule';
/** That may take such a part of the time, and a start counts as one, however long it waited for a lock; after an hour it is done anyway. */
const COMPARED = { share: 5_000, within: 3_600_000 } as const;
/** What is logged when everything is written, with the milliseconds that it took. */
export const STARTED = 'programmed everything';

/** How long it may take until the kernel has everything, after all that has happened is over. Milliseconds. */
export function timeToQuiet(simulation: Simulation, steps: readonly Step[]): number {
  // What others did to a Service without endpoints shows when it gets some, and is repaired no sooner for that.
  return Math.max(timeAfter(simulation, steps), repairedUntil(simulation) - simulation.world.now);
}

function timeAfter(simulation: Simulation, steps: readonly Step[]): number {
  const { mode, modes, world, refusedSince } = simulation;
  if (modes.size > 1 || mayFindSilence(simulation) || isBehind(simulation, steps)) return ANYTHING;
  // Of a former round, too: all may be quiet while a start waits for it.
  if (world.proxy.children.some(({ isHanging }) => isHanging)) return ANYTHING;
  if (steps.every(({ name }) => OF_USERS.has(name))) return USERS;
  if (areRefusals(steps)) return Math.min(world.now - refusedSince, LONGEST_DELAY) + USERS;
  const others = steps.filter(({ name }) => !OF_USERS.has(name));
  const isUnseen = seesNoMoves(simulation) && others.some(({ args: [what] }) => what === UNSEEN);
  if (others.every(({ name }) => name === 'foreign')) return isUnseen ? ANYTHING : REPAIR[mode];
  if (mode === 'nftables' && others.every(({ name }) => name === 'foreign' || ENDS.has(name))) return RESTART;
  return ANYTHING;
}

/** Whether a watch still waits, after trouble of a former round, before it is opened again: until then it tells of no change. */
function isBehind({ cluster }: Simulation, steps: readonly Step[]): boolean {
  return !cluster.isFollowedCompletely && !steps.some(({ name }) => ENDS.has(name));
}

/** Whether nothing happened in these steps but changes of users and refusals. */
export function areRefusals(steps: readonly Step[]): boolean {
  return steps.every((step) => OF_USERS.has(step.name) || refuses(step));
}

/** Until when what others wrote may not be repaired yet: of some of it packets tell nothing, and all seems quiet. */
export function repairedUntil(simulation: Simulation): number {
  const { mode, othersWroteAt } = simulation;
  return othersWroteAt + (seesNoMoves(simulation) ? timeToComparison(simulation) : REPAIR[mode]);
}

function timeToComparison({ world }: Simulation): number {
  const starts = world.log.filter(({ message }) => message === STARTED);
  const times = starts.map(({ facts }) => (facts as { readonly ms: number }).ms);
  const pause = Math.min(COMPARED.share * Math.max(0, ...times), COMPARED.within);
  return Math.max(ANYTHING, pause + REPAIR.iptables);
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
export function silenceFoundUntil({ silencedAt }: Simulation): number {
  return silencedAt + ANYTHING;
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
