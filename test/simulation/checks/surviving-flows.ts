import type { Connection } from '../kernel/conntrack/ctnetlink.js';
import { IPPROTO, STATUS } from '../kernel/conntrack/ctnetlink.js';
import type { Simulation } from '../simulation.js';
import type { ExpectedPort } from './expected-ports.js';

/**
 * Flows to endpoints that serve, by every state of the cluster that the program may know, are never removed by it
 * (docs/internals/spec/model.md), unless their Service admits other clients now (docs/behavior/differences.md): then an answered one of TCP
 * stays.
 */
export class SurvivingFlows {
  constructor(private readonly simulation: Simulation) {}

  begin(): void {
    const { connections } = this.simulation.world.machine;
    connections.onRemove = (connection, process) => this.judge(connection, process);
  }

  private judge(connection: Connection, process: number): void {
    const { simulation } = this;
    const { history, mayBeEjected, modes, world } = simulation;
    if (process !== world.proxy.life.pid || modes.has('userspace')) return;
    simulation.active.add('flows to serving endpoints survive');
    const { original, reply } = connection;
    if (mayBeEjected.has(reply.source) || !this.mayContinue(connection)) return;
    simulation.breaks(
      'flows to serving endpoints survive',
      `${original.protocol} from ${original.source} to ${original.destination} ${original.destinationPort} was removed; ${reply.source} ${reply.sourcePort} serves` +
        ` (${history.services.length} Services)`,
    );
  }

  /** By every state that the program may know, whoever of several Services has the frontend. */
  mayContinue(connection: Connection): boolean {
    const { history, world } = this.simulation;
    const { original, reply } = connection;
    const claims = (ports: readonly ExpectedPort[]): readonly ExpectedPort[] =>
      ports.filter(({ frontends }) =>
        frontends.some(
          ({ address, protocol, port }) =>
            IPPROTO[protocol] === original.protocol &&
            port === original.destinationPort &&
            (address === undefined
              ? world.machine.links.isLocal(original.destination)
              : address === original.destination),
        ),
      );
    const owners = history.services.filter((service) =>
      history.states(service).some((ports) => claims(ports).length > 0),
    );
    if (owners.length !== 1) return false;
    const states = history.states(owners[0]!).map(claims);
    const isAnswered = original.protocol === IPPROTO.TCP && (connection.status & STATUS.SEEN_REPLY) !== 0;
    const policies = new Set(states.map((ports) => JSON.stringify(ports.map(policyOf))));
    return (
      (isAnswered || policies.size === 1) &&
      states.every((ports) =>
        ports.some(({ serving }) =>
          serving.some(({ address, port }) => address === reply.source && port === reply.sourcePort),
        ),
      )
    );
  }
}

function policyOf({ externalPolicyLocal, frontends, internalPolicyLocal, sourceRanges }: ExpectedPort) {
  return [internalPolicyLocal, externalPolicyLocal, sourceRanges, frontends.map(({ kind }) => kind)];
}
