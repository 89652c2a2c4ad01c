import type { ProxyProcess } from '../world/proxy-process.js';
import type { World } from '../world/world.js';

/** What comes within so many milliseconds is an answer to what it did last, and no timer. */
const ON_ITS_WAY = 1;
/** Programs that only tell something, or load a module: they end with the process at the latest, as all that it starts. */
const ASKS = /save\b|--version| -S |^modprobe /;

/** What a process that is done has left of what it began: timers, sockets, files and programs; undefined if there is nothing. */
export function remainsOf(world: World, { life, children }: ProxyProcess): string | undefined {
  const { scheduler, network, machine, datagramPorts, descriptors, now } = world;
  const counts: Readonly<Record<string, number>> = {
    timers: scheduler.pendingOf(life).filter((at) => at > now + ON_ITS_WAY).length,
    'TCP connections': network.connectionsOf(life).length,
    'ports of TCP': network.portsOf(life).length,
    'ports of UDP': datagramPorts.count,
    'other sockets': machine.sockets.countOf(life.pid),
    files: descriptors.count,
  };
  const programs = children.filter(({ hasEnded }) => !hasEnded).map(({ command }) => command.join(' '));
  const left = [
    ...Object.entries(counts).flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : [])),
    ...programs.filter((program) => !ASKS.test(program)),
  ];
  return left.length === 0 ? undefined : left.join(', ');
}
