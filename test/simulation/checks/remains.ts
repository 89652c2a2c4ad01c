import type { ProxyProcess } from '../world/proxy-process.js';
import type { World } from '../world/world.js';

/** What comes within so many milliseconds is an answer to what it did last, and no timer. */
const ON_ITS_WAY = 1;

/** How much of each kind a process has open. */
export function openOf(world: World, { children, life }: ProxyProcess): Readonly<Record<string, number>> {
  const { scheduler, network, machine, datagramPorts, descriptors, now } = world;
  return {
    timers: scheduler.pendingOf(life).filter((at) => at > now + ON_ITS_WAY).length,
    'TCP connections': network.connectionsOf(life).length,
    'ports of TCP': network.portsOf(life).length,
    'ports of UDP': datagramPorts.count,
    'other sockets': machine.sockets.countOf(life.pid),
    files: descriptors.opened.length,
    programs: children.filter(({ hasEnded }) => !hasEnded).length,
  };
}

/**
 * What a process that is done has left of what it began: timers, sockets, files and programs; undefined if there is nothing. One that is
 * asked to stop before it has found out what its node can do just ends: what it asks then ends with it.
 */
export function remainsOf(world: World, process: ProxyProcess): string | undefined {
  if (!process.hasLogged((message) => message === 'starting')) return undefined;
  const left = Object.entries(openOf(world, process)).filter(([, count]) => count > 0);
  if (left.length === 0) return undefined;
  const programs = process.children
    .filter(({ hasEnded }) => !hasEnded)
    .map(({ command }) => command.join(' '));
  return [...left.map(([what, count]) => `${count} ${what}`), ...world.descriptors.opened, ...programs].join(
    ', ',
  );
}
