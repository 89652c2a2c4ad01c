import type { ProxyProcess } from '../world/proxy-process.js';
import type { World } from '../world/world.js';

/** What comes within so many milliseconds is an answer to what it did last, and no timer. */
const ON_ITS_WAY = 1;

/**
 * What a process that is done has left of what it began: timers, sockets, files and programs; undefined if there is nothing. One that is
 * asked to stop before it has found out what its node can do just ends: what it asks then ends with it.
 */
export function remainsOf(world: World, process: ProxyProcess): string | undefined {
  const { life, children } = process;
  const { scheduler, network, machine, datagramPorts, descriptors, now } = world;
  if (!process.hasLogged((message) => message === 'starting')) return undefined;
  const counts: Readonly<Record<string, number>> = {
    timers: scheduler.pendingOf(life).filter((at) => at > now + ON_ITS_WAY).length,
    'TCP connections': network.connectionsOf(life).length,
    'ports of TCP': network.portsOf(life).length,
    'ports of UDP': datagramPorts.count,
    'other sockets': machine.sockets.countOf(life.pid),
  };
  const programs = children.filter(({ hasEnded }) => !hasEnded).map(({ command }) => command.join(' '));
  const left = [
    ...Object.entries(counts).flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : [])),
    ...descriptors.opened,
    ...programs,
  ];
  return left.length === 0 ? undefined : left.join(', ');
}
