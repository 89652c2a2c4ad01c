import { conditionWords } from '../../../../src/diagnostics/application/words.js';
import { rawService, rawSlice } from '../../../support/objects.js';
import { SeenCluster } from '../../../support/seen-cluster.js';
import { seenFlow } from '../../../support/traffic/flows.js';
import { MemoryFlowEvents } from '../../../support/traffic/memory-flow-events.js';

const ends = { ready: false, serving: true, terminating: true };
const slice = rawSlice({
  endpoints: [
    { addresses: ['10.244.1.5'], conditions: {} },
    { addresses: ['10.244.1.6'], conditions: ends },
    { addresses: ['10.244.1.7'], conditions: ends },
  ],
});

async function explained(flows: MemoryFlowEvents) {
  const cluster = new SeenCluster({ flows }).deliver([rawService()], [slice]);
  const { families } = await cluster.explain.service('shop/cart');
  return families[0]!.ports[0]!.endpoints;
}

it('an endpoint that terminates shows since when, its open connections, and whether it may stop', async () => {
  const flows = new MemoryFlowEvents();
  flows.begin(seenFlow(1, { replySource: '10.244.1.6:8080' }));
  flows.begin(seenFlow(2, { replySource: '10.244.1.5:8080' }));
  expect((await explained(flows)).map(conditionWords)).toEqual([
    'not ready, terminating since 1970-01-01T00:00:00.000Z, still serving, not used, 1 open connection',
    'not ready, terminating since 1970-01-01T00:00:00.000Z, still serving, not used, 0 open connections, safe to stop as seen from this node',
    'ready, used',
  ]);
});

it('no number is shown where connections cannot be seen', async () => {
  const flows = new MemoryFlowEvents();
  flows.tracksServices = false;
  expect(conditionWords((await explained(flows))[0]!)).toBe(
    'not ready, terminating since 1970-01-01T00:00:00.000Z, still serving, not used',
  );
});

it('connections are not read while no endpoint terminates', async () => {
  const flows = new MemoryFlowEvents();
  const cluster = new SeenCluster({ flows }).deliver([rawService()], [rawSlice()]);
  await cluster.explain.service('shop/cart');
  expect(flows.walks).toBe(0);
});
