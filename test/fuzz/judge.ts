/** Compares what the node did with what the model allows. */

import { place } from '../model/addresses.js';
import { destinationOf, type TestbedModel, type Tracked } from '../model/testbed-model.js';
import type { TrackedConnection } from '../support/testbed/conntrack.js';
import { endpointOf, isMasqueraded, isTranslated, type Observation } from '../support/testbed/probe.js';

/** Something that is not as the model says. */
export interface Disagreement {
  /** The packets, the Service, or the flow. */
  readonly subject: string;
  readonly problem: string;
}

/** That chance gives so uneven shares; far below one in all runs that there will ever be. */
const NEVER = 1e-9;

/** Packets that met something else than the model allows. */
export function judgePackets(
  model: TestbedModel,
  observations: readonly Observation[],
): readonly Disagreement[] {
  return observations.flatMap((one) => {
    const { client, target, refused, connections } = one;
    const tracked = connections.map(trackedOf);
    const problem = model.problemOf({ client, target, refused, tracked, answered: answeredBy(one) });
    return problem === undefined ? [] : [{ subject: `${target.label} from ${client}`, problem }];
  });
}

/** The endpoints that answered, and whether they saw another address than the client's. */
function answeredBy({ answers, connections }: Observation): readonly Required<Tracked>[] {
  return answers.map((text) => {
    const { client, ...endpoint } = JSON.parse(text) as Answer;
    const masqueraded = connections.every(({ original }) => original.src !== client);
    return { endpoint: place(endpoint), masqueraded };
  });
}

/** The endpoint that answered with this text. */
export function endpointIn(answer: string): string {
  return place(JSON.parse(answer) as Answer);
}

/** As endpoints answer (test/support/testbed/agent/endpoints.mjs). */
interface Answer {
  readonly address: string;
  readonly port: number;
  readonly client: string;
}

function trackedOf(connection: TrackedConnection): Tracked {
  const masqueraded = isMasqueraded(connection);
  return isTranslated(connection) ? { endpoint: endpointOf(connection), masqueraded } : { masqueraded };
}

/** Endpoints that got more or fewer connections than chance explains, of all clients with the same endpoints together. */
export function judgeShares(
  model: TestbedModel,
  observations: readonly Observation[],
): readonly Disagreement[] {
  const pools = new Map<
    string,
    { readonly shares: Map<string, number>; readonly counts: Map<string, number> }
  >();
  for (const observation of observations) {
    const { client, target } = observation;
    const outcome = model.outcome(target, client);
    if (outcome.kind !== 'endpoints' || outcome.affinitySeconds > 0 || outcome.hashesSource) continue;
    const shares = new Map(
      model
        .draws(outcome, target, client)
        .map(({ endpoint }, index) => [endpoint, outcome.draws[index]!.share]),
    );
    const key = `${target.label.split(' ')[0]!} ${JSON.stringify([...shares])}`;
    const pool = pools.get(key) ?? { shares, counts: new Map<string, number>() };
    pools.set(key, pool);
    const endpoints = model.isRelayed
      ? observation.answers.map(endpointIn)
      : observation.connections.filter(isTranslated).map(endpointOf);
    for (const endpoint of endpoints) pool.counts.set(endpoint, (pool.counts.get(endpoint) ?? 0) + 1);
  }
  return [...pools].flatMap(([key, { shares, counts }]) => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return [...shares].flatMap(([endpoint, share]) => {
      const count = counts.get(endpoint) ?? 0;
      if (probabilityLimit(count, total, share) >= NEVER) return [];
      const problem = `${count} of ${total} connections, with a share of ${share}`;
      return [{ subject: `${key.split(' ')[0]!} to ${endpoint}`, problem }];
    });
  });
}

/** At least the probability that so many of all connections, or a still less likely number, have this share (Chernoff). */
function probabilityLimit(count: number, total: number, share: number): number {
  if (total === 0 || share === 1) return 1;
  const part = count / total;
  const term = (value: number, other: number): number => (value === 0 ? 0 : value * Math.log(value / other));
  return Math.exp(-total * (term(part, share) + term(1 - part, 1 - share)));
}

/** Connections of before a change: those that were to go on and are gone, and those that stay but lead to nobody. */
export function judgeFlows(
  model: TestbedModel,
  before: readonly Observation[],
  remaining: readonly TrackedConnection[],
  /** Only endpoints of this Service changed, if anything. */
  hasSameSpec: (service: string) => boolean,
  /** Endpoints answer, so that connections of TCP are closed by now. */
  hasServers: boolean,
): { readonly ended: readonly Disagreement[]; readonly stale: readonly Disagreement[] } {
  const tracked = new Set(remaining.map(keyOf));
  const ended: Disagreement[] = [];
  const stale: Disagreement[] = [];
  for (const { client, target, connections } of before) {
    if (hasServers && target.proto === 'tcp') continue;
    const outcome = model.outcome(target, client);
    const draws = model.draws(outcome, target, client);
    const isSameSpec = hasSameSpec(target.label.split(':')[0]!);
    for (const connection of connections.filter(isTranslated)) {
      const endpoint = endpointOf(connection);
      const masqueraded = isMasqueraded(connection);
      const isThere = tracked.has(keyOf(connection));
      // In userspace mode the node tracks the flow to the proxy, whichever endpoint that uses.
      const mayContinue = model.isRelayed
        ? outcome.kind === 'endpoints'
        : model.model.mayContinue(destinationOf(target), endpoint);
      const isCurrent = draws.some((one) => one.endpoint === endpoint && one.masqueraded === masqueraded);
      const subject = `${target.label} from ${client} (flow to ${endpoint})`;
      if ((isCurrent || (mayContinue && isSameSpec && !model.isRelayed)) && !isThere)
        ended.push({ subject, problem: 'ended, although its endpoint serves' });
      if (!mayContinue && isThere && target.proto === 'udp')
        stale.push({ subject, problem: 'stays, although its endpoint does not serve' });
    }
  }
  return { ended, stale };
}

function keyOf({ proto, original: { src, sport, dst, dport } }: TrackedConnection): string {
  return [proto, src, sport, dst, dport].join(' ');
}
