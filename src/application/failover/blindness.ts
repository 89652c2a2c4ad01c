import type { CountingFacts } from '../../domain/traffic/counting-facts.js';
import { said } from '../words/said.js';

/** Which silent endpoints are never seen on this machine, and why, for people. */
export function blindness({ tracksServices, hidesDeadOnBridges }: CountingFacts): readonly string[] {
  return said(
    !tracksServices &&
      'connections through IPVS are not tracked, so silent endpoints are not seen, and none steps aside: set net.ipv4.vs.conntrack to 1',
    hidesDeadOnBridges &&
      "connections of pods to a dead endpoint on their own bridge are not seen, since net.bridge.bridge-nf-call-iptables is 1: such an endpoint steps aside only for other clients' sake",
  );
}

/** Why nobody steps aside for a while, for people. */
export function passingBlindness(
  { complete, readShare }: CountingFacts,
  eventsWereLost: boolean,
): readonly string[] {
  return said(
    !complete &&
      `${Math.floor(100 * readShare)}% of the connections have been read; until all have been, no silent endpoint steps aside`,
    eventsWereLost &&
      'events of connections were lost a moment ago, so no silent endpoint steps aside for some seconds',
  );
}
