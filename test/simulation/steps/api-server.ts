import { FINE } from '../world/network.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';

/** Milliseconds. */
const AWAY = 15_000;

/** What may go wrong with the API server and the way to it; each ends by itself or when the world is settled. */
const TROUBLES: Readonly<Record<string, (simulation: Simulation) => void>> = {
  'watches-cut': ({ cluster: { api } }) => api.disconnectWatches(),
  'watches-end': ({ cluster: { api } }) => api.endWatches(),
  'watches-hang': ({ cluster: { api } }) => api.hangWatches(),
  'watches-expire': ({ cluster: { api } }) => api.expireWatches(),
  'history-compacted': ({ cluster: { api } }) => api.compact(),
  bookmarks: ({ cluster: { api } }) => api.bookmark(),
  'torn-frame': ({ cluster: { api } }) => {
    api.sendRaw('{"type":"MODIFIED","object":{"kind":"Serv');
    api.disconnectWatches();
  },
  'gone-as-status': ({ cluster: { api } }) => {
    api.faults.goneAs = 'status';
    api.compact();
    api.disconnectWatches();
  },
  'too-many-requests': ({ cluster: { api } }) => {
    api.faults.fail({ status: 429, reason: 'TooManyRequests', retryAfter: 1, times: 3 });
    api.disconnectWatches();
  },
  'server-errors': ({ cluster: { api } }) =>
    api.faults.fail({ status: 503, reason: 'ServiceUnavailable', times: 4 }),
  'pages-expire': ({ cluster: { api } }) =>
    api.faults.fail({ status: 410, reason: 'Expired', times: 1, match: 'continue=' }),
  'watches-end-at-once': ({ cluster: { api } }) => {
    api.faults.endNewWatches = true;
    api.disconnectWatches();
  },
  'new-watches-hang': ({ cluster: { api } }) => {
    api.faults.hangNewWatches = true;
    api.disconnectWatches();
  },
  'lists-never-end': ({ cluster: { api } }) => {
    api.faults.withholdListEnd = true;
    api.disconnectWatches();
  },
  'json-only': ({ cluster: { api } }) => {
    api.speaksProtobuf = false;
    api.disconnectWatches();
  },
  'protobuf-again': ({ cluster: { api } }) => {
    api.speaksProtobuf = true;
    api.disconnectWatches();
  },
  'no-streamed-lists': ({ cluster: { api } }) => {
    api.streamsLists = false;
    api.disconnectWatches();
  },
  'connections-break': ({ world, cluster }) => {
    for (const socket of world.network.connectionsOf(cluster.life)) socket.breakOff();
  },
  refused: ({ world, cluster }) => {
    world.network.weather.newConnections = 'refused';
    for (const socket of world.network.connectionsOf(cluster.life)) socket.breakOff();
  },
  /** It is away for a while, and remembers nothing of what happened meanwhile. */
  away: ({ world, cluster }) => {
    world.network.weather.newConnections = 'refused';
    for (const socket of world.network.connectionsOf(cluster.life)) socket.breakOff();
    world.machine.endAfter(AWAY, () => {
      cluster.api.compact();
      world.network.weather.newConnections = 'open';
    });
  },
  unreachable: ({ world, cluster }) => {
    world.network.weather.newConnections = 'silent';
    for (const socket of world.network.connectionsOf(cluster.life)) socket.breakOff();
  },
  'half-open': ({ world, cluster }) => {
    world.network.weather.newConnections = 'silent';
    for (const socket of world.network.connectionsOf(cluster.life)) socket.goSilent();
  },
  slow: ({ world }) => {
    world.network.weather.latency = [50, 900];
  },
  'in-small-pieces': ({ world }) => {
    world.network.weather.pieces = 7;
  },
};

/** Trouble with the API server begins. */
export const trouble: StepKind = {
  name: 'trouble',
  weight: 3,
  plan: (plan) =>
    plan.settings.source === 'api' ? [plan.pick('trouble', Object.keys(TROUBLES))] : undefined,
  perform(simulation, [name = '']) {
    const begin = TROUBLES[name];
    if (!begin) throw new Error(`no trouble is called ${name}`);
    simulation.asCluster(() => begin(simulation));
  },
};

/** The API server and the way to it are well. */
export function endTrouble({ world, cluster }: Simulation): void {
  const { api, manifests } = cluster;
  cluster.mend();
  world.network.weather = { ...FINE };
  api.faults.clear();
  if (api.faults.withholdListEnd) api.disconnectWatches();
  api.faults.withholdListEnd = false;
  manifests?.mendAll();
}
