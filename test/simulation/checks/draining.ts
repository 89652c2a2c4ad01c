import {
  serverAt,
  type Destination,
  type ServerId,
  type VirtualServer,
} from '../kernel/ipvs/virtual-server.js';
import type { Simulation } from '../simulation.js';
import { lasting } from './lasting.js';

/** Milliseconds: drained real servers are looked for once a minute (docs/internals/spec/ipvs.md §8). */
const DELETED_WITHIN = 75_000;
/** Milliseconds within which the program has programmed its last change. */
const KNOWN_WITHIN = 10_000;
const TCP = 6;

/**
 * In IPVS mode a real server of TCP that is to get no more connections keeps those that it has: its weight is 0 until they have
 * ended, and then it is deleted.
 */
export class Draining {
  constructor(private readonly simulation: Simulation) {}

  begin(): void {
    const { servers } = this.simulation.world.machine;
    servers.onRetire = (server, destination, process) => this.judge(server, destination, process);
  }

  private judge(server: VirtualServer, { address, port }: Destination, process: number): void {
    const { simulation } = this;
    const { mode, modes, world } = simulation;
    if (process !== world.proxy.life.pid || mode !== 'ipvs' || modes.size > 1) return;
    if (server.protocol !== TCP || !this.isThere(server)) return;
    simulation.breaks(
      'real servers drain',
      `${address} ${port} of ${server.address} ${server.port} was deleted with connections`,
    );
  }

  /** In every state that the program may know. */
  private isThere({ address, port }: ServerId): boolean {
    const { history } = this.simulation;
    return history.services.some((service) =>
      history
        .states(service)
        .every((ports) =>
          ports.some(({ frontends }) =>
            frontends.some((one) => one.protocol === 'TCP' && one.address === address && one.port === port),
          ),
        ),
    );
  }

  /** A real server that gets new connections and should not, or is not deleted when it has none; to be called when all is quiet. */
  async stays(): Promise<string | undefined> {
    const { simulation } = this;
    const { world } = simulation;
    if (simulation.mode !== 'ipvs' || simulation.modes.size > 1) return undefined;
    // The last change may wait for the next sync, where the rules of before are right for a Service that the program still knows.
    const serving = () => this.unwanted().find(({ destination }) => destination.weight !== 0);
    const wrong = await lasting(world, serving, world.now + KNOWN_WITHIN);
    const draining = this.unwanted();
    if (draining.length === 0) return undefined;
    simulation.active.add('real servers drain');
    if (wrong) return `${nameOf(wrong.server, wrong.destination)} gets connections`;
    // Their clients go.
    for (const { server, destination } of draining)
      world.machine.servers.countConnections(server, destination, {
        activeConnections: 0,
        inactiveConnections: 0,
      });
    await world.scheduler.runUntil(world.now + DELETED_WITHIN);
    simulation.active.add('drained real servers are deleted');
    const [left] = this.unwanted();
    return left && `${nameOf(left.server, left.destination)} has no connections and is not deleted`;
  }

  private unwanted() {
    const { history, mayBeEjected, world } = this.simulation;
    const ports = history.owned;
    const wanted = new Set<string>();
    const servers = new Set<VirtualServer>();
    for (const { frontends, cluster, local, weightless } of ports)
      for (const { address, port, protocol } of frontends) {
        const server =
          address === undefined
            ? undefined
            : world.machine.servers.find(serverAt({ address, port, protocol }));
        if (!server) continue;
        servers.add(server);
        for (const one of [...cluster, ...local, ...weightless.cluster, ...weightless.local])
          wanted.add(nameOf(server, one));
      }
    return [...servers].flatMap((server) =>
      [...server.destinations.values()]
        .filter((one) => !wanted.has(nameOf(server, one)) && !mayBeEjected.has(one.address))
        .map((destination) => ({ server, destination })),
    );
  }
}

function nameOf(server: VirtualServer, { address, port }: Pick<Destination, 'address' | 'port'>): string {
  return `the former real server ${address} ${port} of ${server.address} ${server.port}`;
}
