import type { Simulation } from '../simulation.js';
import type { Mode } from '../world/settings.js';
import { clientsOf, packetOf, type Client } from './clients.js';
import type { ExpectedFrontend, ExpectedPort } from './expected-ports.js';
import { actualFate, expectedFate, isAllowed, type Fate } from './fate.js';
import { promisesNothing } from './modes.js';
import type { Violation } from './violation.js';

/** What may become of packets to an address that no Service has. */
const UNCLAIMED: readonly Fate[] = ['untouched', 'dropped', 'refused'];

/** Of those that rules may tell apart: packets of all of them are sent when all is quiet. */
const CLIENTS_PER_COMMIT = 2;

/**
 * After every change of the kernel: each packet meets what was asked for by some state of the cluster that the program may know,
 * and by one alone. So a frontend that is served before and after a change is served in between, a packet never meets half a
 * Service, and one that nobody touched is served as always.
 */
export class EveryCommit {
  commits = 0;
  violation: Violation | undefined;
  private beganAt = 0;
  private turn = 0;
  private damaged: 'no' | 'until repaired' | 'until settled' = 'no';
  private isActing = false;

  constructor(private readonly simulation: Simulation) {}

  begin(): void {
    const { world } = this.simulation;
    this.beganAt = world.now;
    world.machine.onCommit(() => this.committed());
  }

  /** Another program takes away what serves: until that is repaired nothing can be promised. */
  damage(act: () => void, isLasting = false): void {
    if (this.damaged !== 'until settled') this.damaged = isLasting ? 'until settled' : 'until repaired';
    this.isActing = true;
    act();
    this.isActing = false;
  }

  /** Everything is there again. */
  mended(): void {
    this.damaged = 'no';
  }

  /** Where a packet of this Service's meets something else; undefined: nowhere. */
  problemOf(
    service: string,
    states: readonly (readonly ExpectedPort[])[],
    mostClients = Infinity,
  ): string | undefined {
    const { walk } = this.simulation.world.machine;
    const modes = [...this.simulation.modes];
    for (const { frontend, port } of frontendsIn(states)) {
      const others = this.otherClaims(service, frontend, port);
      const clients = new Map(
        [
          port,
          ...states.flatMap((ports) =>
            ports.filter(({ key, family }) => key === port.key && family === port.family),
          ),
        ]
          .flatMap((known) => clientsOf(known))
          .map((client) => [`${client.kind} ${client.source}`, client]),
      );
      for (const client of inTurn([...clients.values()], mostClients, this.turn++)) {
        if (modes.some((mode) => promisesNothing(mode, frontend, client, mostClients === Infinity))) continue;
        const fate = actualFate(walk.walk(packetOf(port.family, client, frontend)));
        const allowed = new Set([
          ...modes.flatMap((mode) => states.flatMap((ports) => fatesIn(ports, frontend, port, client, mode))),
          ...others(client),
        ]);
        if (!modes.some((mode) => isAllowed(fate, allowed, mode, client))) {
          const { address = 'node', port: number } = frontend;
          return `${port.key} at ${address} ${number} from ${client.kind} ${client.source}: ${fate}; expected ${[...allowed].join(' | ')}`;
        }
      }
    }
    return undefined;
  }

  private committed(): void {
    if (this.violation) return;
    this.commits++;
    const { history, world, modes } = this.simulation;
    if (this.damaged !== 'no') return this.lookForRepair();
    // In mode userspace packets go through the process, so that a new one begins with nothing.
    if (modes.has('userspace') && world.proxy !== this.simulation.settledBy) return;
    for (const service of this.concerned()) {
      const detail = this.problemOf(service, history.states(service), CLIENTS_PER_COMMIT);
      if (detail === undefined) continue;
      const promise = history.isTouched(service) ? 'between two states' : 'an untouched Service';
      this.violation = { promise, detail, at: world.now - this.beganAt };
      return;
    }
  }

  private lookForRepair(): void {
    const { history } = this.simulation;
    if (this.isActing || this.damaged === 'until settled') return;
    const isWhole = history.services.every(
      (service) => this.problemOf(service, history.states(service)) === undefined,
    );
    if (isWhole) this.damaged = 'no';
  }

  /** The Services that something was written about, and one of the others in turn. */
  private concerned(): readonly string[] {
    const { history, mode } = this.simulation;
    // In mode userspace a Service that changes gets other sockets.
    const touched =
      mode === 'userspace' ? [] : history.services.filter((service) => history.isTouched(service));
    const others = history.services.filter((service) => !history.isTouched(service));
    return others.length > 0 ? [...touched, others[this.commits % others.length]!] : touched;
  }

  /** What other Services that may have the same frontend ask for. */
  private otherClaims(service: string, frontend: ExpectedFrontend, { family }: ExpectedPort) {
    const { history } = this.simulation;
    const claims = history.services
      .filter((other) => other !== service)
      .flatMap((other) => history.states(other))
      .flatMap((ports) =>
        ports.filter((port) => port.family === family && port.frontends.some((own) => isSame(own, frontend))),
      );
    return (client: Client) =>
      claims.flatMap((port) =>
        port.frontends
          .filter((own) => isSame(own, frontend))
          .flatMap((own) => [...this.simulation.modes].map((mode) => expectedFate(port, own, client, mode))),
      );
  }
}

/** So many of them, other ones each turn. */
function inTurn<T>(all: readonly T[], most: number, turn: number): readonly T[] {
  if (all.length <= most) return all;
  return Array.from({ length: most }, (_, index) => all[(turn * most + index) % all.length]!);
}

/** Every frontend of any of the states, with the port that has it. */
function frontendsIn(
  states: readonly (readonly ExpectedPort[])[],
): Iterable<{ frontend: ExpectedFrontend; port: ExpectedPort }> {
  const found = new Map<string, { frontend: ExpectedFrontend; port: ExpectedPort }>();
  for (const port of states.flat())
    for (const frontend of port.frontends)
      found.set(`${port.family} ${frontend.kind} ${frontend.address} ${frontend.port} ${frontend.protocol}`, {
        frontend,
        port,
      });
  return found.values();
}

function fatesIn(
  ports: readonly ExpectedPort[],
  frontend: ExpectedFrontend,
  { family }: ExpectedPort,
  client: Client,
  mode: Mode,
): readonly Fate[] {
  const claims = ports.flatMap((port) =>
    port.family === family
      ? port.frontends
          .filter((own) => isSame(own, frontend))
          .map((own) => expectedFate(port, own, client, mode))
      : [],
  );
  return claims.length > 0 ? claims : UNCLAIMED;
}

function isSame(one: ExpectedFrontend, other: ExpectedFrontend): boolean {
  return one.address === other.address && one.port === other.port && one.protocol === other.protocol;
}
