import { SLICES } from '../cluster/simulated-cluster.js';
import { FINE } from '../world/network.js';
import type { StepKind } from '../schedule/step-kind.js';
import type { Simulation } from '../simulation.js';

/** Milliseconds. */
const AWAY = 15_000;
/** Milliseconds. */
const UNTIL_RESTORED = 2_500;
/**
 * To what no proxy reads, since a backup: so many that clients are back long before versions are given that they have seen
 * (docs/behavior/life-cycle.md).
 */
const WRITES_OF_OTHERS = 100_000;

/** Objects. */
const SMALL_PAGE = 1;
/** Milliseconds. */
const SLOW_PAGE = 300;

/** Milliseconds. */
const BEHIND = { after: 1_000, lasts: 4_000 };

/** Milliseconds between two of them, one after the other, and how many there are. */
const ROLLING = { every: 700, count: 6 };

/** What may go wrong with the API server and the way to it; each ends by itself or when the world is settled. */
const TROUBLES: Readonly<Record<string, (simulation: Simulation) => void>> = {
  'watches-cut': ({ cluster: { api } }) => api.disconnectWatches(),
  'watches-end': ({ cluster: { api } }) => api.endWatches(),
  'watches-hang': ({ cluster: { api } }) => api.hangWatches(),
  'watches-expire': ({ cluster: { api } }) => api.expireWatches(),
  'history-compacted': ({ cluster: { api } }) => api.compact(),
  bookmarks: ({ cluster: { api } }) => api.bookmark(),
  'torn-events': ({ cluster: { api } }) => void api.faults.tears.push('connection', 'watch', 'connection'),
  'torn-objects': ({ cluster: { api } }) => void api.faults.tears.push('content', 'content', 'content'),
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
  /** Lists come in small pages. */
  'no-streamed-lists': (simulation) => {
    listInSmallPages(simulation);
    const { api } = simulation.cluster;
    api.disconnectWatches();
  },
  /** The same, and the second page has expired. */
  'pages-expire': (simulation) => {
    listInSmallPages(simulation);
    const { api } = simulation.cluster;
    api.faults.fail({ status: 410, reason: 'Expired', times: 2, match: 'continue=' });
    api.expireWatches();
  },
  /** Services change while they are listed. */
  'slow-pages': (simulation) => {
    listInSmallPages(simulation);
    const { api } = simulation.cluster;
    api.faults.delay = SLOW_PAGE;
    api.expireWatches();
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
  'internal-errors': ({ cluster: { api } }) => {
    api.faults.fail({ status: 500, reason: 'InternalError', times: 3 });
    api.disconnectWatches();
  },
  'gateway-timeouts': ({ cluster: { api } }) => {
    api.faults.fail({ status: 504, reason: 'Timeout', retryAfter: 1, times: 3 });
    api.disconnectWatches();
  },
  /** Its storage is restored from a backup of a while before: it says what was then, and versions are given anew. */
  restored: (simulation) => {
    const { world, cluster } = simulation;
    const { store } = cluster.api;
    const backup = store.backup();
    store.bump(WRITES_OF_OTHERS);
    world.machine.endAfter(UNTIL_RESTORED, () => simulation.asCluster(() => void cluster.restore(backup)));
  },
  /** API servers of different age, one after the other, each of which cuts the connections of the one before. */
  rolling: ({ world, cluster }) => roll(world, cluster, ROLLING.count),
  /** The connections go to a server whose cache is behind what they have shown, and catches up a while later. */
  'cache-behind': (simulation) =>
    fallBehind(simulation, ({ world, cluster }) => {
      for (const socket of world.network.connectionsOf(cluster.life)) socket.breakOff();
    }),
  slow: ({ world }) => {
    world.network.weather.latency = [50, 900];
  },
  'in-small-pieces': ({ world, history }) => {
    history.comesInPieces('until quiet');
    world.network.weather.pieces = 7;
  },
};

/** @param act what happens to the connections when the cache is behind */
function fallBehind(simulation: Simulation, act: (simulation: Simulation) => void): void {
  const { world, cluster, history } = simulation;
  const { api } = cluster;
  const seen = api.store.backup();
  world.machine.endAfter(BEHIND.after, () => {
    // What was restored meanwhile is another storage.
    if (api.store.version < seen.version || api.store.compacted > seen.version) return;
    api.cache.fallBehind(seen);
    history.beginsBehind();
    act(simulation);
    world.scheduler.after(BEHIND.lasts, () => api.catchUp(), cluster.life);
  });
}

/** Pages stay small when the trouble ends. */
function listInSmallPages({ cluster: { api }, history }: Simulation): void {
  history.comesInPieces('for good');
  api.streamsLists = false;
  api.faults.largestPage = SMALL_PAGE;
}

function roll(world: Simulation['world'], cluster: Simulation['cluster'], left: number): void {
  const { api } = cluster;
  if (left === 0) return;
  api.speaksProtobuf = left % 2 === 0;
  api.streamsLists = left % 3 !== 0;
  api.faults.goneAs = left % 4 < 2 ? 'status' : 'event';
  for (const socket of world.network.connectionsOf(cluster.life)) socket.breakOff();
  world.scheduler.after(ROLLING.every, () => roll(world, cluster, left - 1), cluster.life);
}

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

/** Watches of slices expire at a server whose cache is behind, so that these are listed from there. */
export const slicesBehind: StepKind = {
  name: 'slices-behind',
  weight: 0,
  plan: ({ settings }) => (settings.source === 'api' ? [] : undefined),
  perform: (simulation) =>
    simulation.asCluster(() => fallBehind(simulation, ({ cluster }) => cluster.api.expireWatchesOf(SLICES))),
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
