import type { Networks } from '../../model/addresses.js';
import { byPrecedence } from '../../model/model.js';
import type { Packet } from '../walks/packet-walk.js';
import type { Mode } from '../world/settings.js';
import { clientsOf, packetOf, type Client } from './clients.js';
import type { ExpectedFrontend, ExpectedPort } from './expected-ports.js';
import { expectedFate, isClosedFirst, unclaimedFate, type Fate } from './fate.js';

/** A frontend that packets are sent to. */
export interface ProbedFrontend {
  readonly frontend: ExpectedFrontend;
  readonly port: ExpectedPort;
  /** Another Service has it in some state, too. */
  readonly isShared: boolean;
  /** Of each client that rules may tell apart. */
  readonly probes: readonly Probe[];
}

/** What is known of addresses that no Service has. */
export interface Certainty {
  /** Whether all is quiet, so that each packet meets just what is asked for. */
  readonly isQuiet: boolean;
  /** Whether the rules of a Service may be missing, since the kernel rejects them. */
  readonly mayBeRejected: boolean;
  readonly serviceRanges: Networks;
}

/** A packet, and what may become of it. */
export interface Probe {
  readonly client: Client;
  readonly packet: Packet;
  readonly allowed: () => ReadonlySet<Fate>;
  /** What becomes of it in each state of the Service. */
  readonly inStates: () => readonly (readonly Fate[])[];
}

/**
 * Those that the Service has in any state, or had before, with what all Services ask for that may have the same.
 * @param services all of them
 * @param statesOf those of a Service that count
 * @param former states that do not count any more: what only they have leads nowhere
 */
export function probedFrontends(
  service: string,
  services: readonly string[],
  statesOf: (service: string) => readonly (readonly ExpectedPort[])[],
  modes: readonly Mode[],
  certainty: Certainty,
  former: readonly (readonly ExpectedPort[])[] = [],
): readonly ProbedFrontend[] {
  const states = statesOf(service);
  const others = services
    .filter((other) => other !== service)
    .flatMap(statesOf)
    .flat();
  return Array.from(frontendsIn([...former, ...states]), ({ frontend, port }) => {
    const claims = states.map((ports) => claimsIn(ports, frontend, port));
    const ofOthers = claimsIn(others, frontend, port);
    const variants = states.flat().filter(({ key, family }) => key === port.key && family === port.family);
    const clients = new Map(
      [port, ...variants].flatMap(clientsOf).map((client) => [`${client.kind} ${client.source}`, client]),
    );
    const fates = (claiming: readonly ExpectedPort[], client: Client): readonly Fate[] =>
      modes.flatMap((mode) => claiming.map((each) => expectedFate(each, frontend, client, mode)));
    const { isQuiet, mayBeRejected, serviceRanges } = certainty;
    const isClusterIPOf = (ports: readonly ExpectedPort[]): boolean =>
      ports.some(({ frontends: [first] }) => first!.address === frontend.address);
    /** Where the Service does not have it: others may have another port there, or not. */
    const unclaimed = (ports: readonly ExpectedPort[]): readonly Fate[] => {
      const isOwn = isClusterIPOf(ports);
      const isClusterIP = mayBeRejected || (!isOwn && isClusterIPOf(others)) ? [true, false] : [isOwn];
      // Ranges may not have arrived yet, or still be those of before.
      const isInRange = isQuiet ? [serviceRanges.has(frontend.address ?? '')] : [true, false];
      return modes.flatMap((mode) =>
        isClusterIP.flatMap((is) => isInRange.map((inRange) => unclaimedFate(is, inRange, mode))),
      );
    };
    const inStates = (client: Client): readonly (readonly Fate[])[] =>
      claims.map((claiming, index) =>
        claiming.length > 0 ? fates(claiming, client) : unclaimed(states[index]!),
      );
    const isClosed = [...claims.flat(), ...ofOthers].some((each) =>
      modes.some((mode) => isClosedFirst(each, frontend, mode)),
    );
    const whileWriting: readonly Fate[] = isClosed && !isQuiet ? ['drop'] : [];
    const allowedTo = (client: Client): ReadonlySet<Fate> =>
      new Set([...inStates(client).flat(), ...fates(ofOthers, client), ...whileWriting]);
    const [owner] = ownersOf([...claims.flat(), ...ofOthers], frontend);
    const allowedInTheEnd = (client: Client): ReadonlySet<Fate> =>
      new Set(owner ? fates([owner], client) : inStates(client).flat());
    const probeOf = (client: Client): Probe => {
      let allowed: ReadonlySet<Fate> | undefined;
      return {
        client,
        packet: packetOf(port, client, frontend),
        allowed: () => (allowed ??= isQuiet ? allowedInTheEnd(client) : allowedTo(client)),
        inStates: () => inStates(client),
      };
    };
    return { frontend, port, isShared: ofOthers.length > 0, probes: Array.from(clients.values(), probeOf) };
  });
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

/** Those that claim this frontend; the first one has it. */
export function ownersOf(
  claims: readonly ExpectedPort[],
  frontend: ExpectedFrontend,
): readonly ExpectedPort[] {
  const served = (port: ExpectedPort) => ({
    port,
    frontend: port.frontends.find((own) => isSame(own, frontend))!,
    selection: port,
  });
  return claims
    .map(served)
    .sort(byPrecedence)
    .map(({ port }) => port);
}

/** The ports that have this frontend. */
export function claimsIn(
  ports: readonly ExpectedPort[],
  frontend: ExpectedFrontend,
  { family }: ExpectedPort,
): readonly ExpectedPort[] {
  return ports.filter(
    (port) => port.family === family && port.frontends.some((own) => isSame(own, frontend)),
  );
}

function isSame(one: ExpectedFrontend, other: ExpectedFrontend): boolean {
  return one.address === other.address && one.port === other.port && one.protocol === other.protocol;
}
