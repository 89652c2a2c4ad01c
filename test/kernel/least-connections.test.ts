import type { Explanation } from '../../src/diagnostics/application/explain/explanation.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import type { Host } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';
import { until } from '../support/until.js';

const SERVICE = { dst: '172.30.40.2', port: 80 };
const ADDRESSES = ['10.244.1.31', '10.244.1.32', '10.244.1.33'];
const SLOW = ADDRESSES[0]!;
const FOR_EVER = 3_600_000;
const MANY = 400;

const objects = clusterObjects([
  {
    name: 'balanced',
    clusterIP: SERVICE.dst,
    ports: [{ name: 'http', protocol: 'TCP', port: SERVICE.port, targetPort: 8080 }],
    annotations: { 'kube-proxy-ts/load-balancing': 'least-connections' },
    endpoints: ADDRESSES,
  },
]);

interface Connections {
  readonly open: number;
  readonly accepted: number;
}

describe('least connections, by packets', () => {
  let testbed: Testbed;
  let pods: readonly Host[];
  let proxy: ProxyProcess;

  const connectionsTo = (pod: Host): Promise<Connections> => pod.ask('accepted', {});
  /** Opens connections, and returns the part of the slow endpoint. */
  const partOfSlow = async (n: number): Promise<number> => {
    const before = await connectionsTo(pods[0]!);
    await testbed.ext.ask('stay', { ...SERVICE, n });
    const after = await connectionsTo(pods[0]!);
    return (after.accepted - before.accepted) / n;
  };
  const slowEndpoint = async () => {
    const { stdout } = await proxy.answer('explain', 'default/balanced', '-o', 'json');
    const { families } = JSON.parse(stdout) as Explanation;
    return families[0]!.ports[0]!.endpoints.find(({ address }) => address === SLOW)!;
  };
  /** Waits until the slow endpoint has such a part of the slots. */
  const slots = (what: string, isSo: (part: number) => boolean): Promise<void> =>
    until(what, async () => {
      const { share } = await slowEndpoint();
      return isSo(share!.slots / share!.totalSlots);
    });

  beforeAll(async () => {
    testbed = await Testbed.open();
    pods = await Promise.all(ADDRESSES.map((address, index) => testbed.addPod(`least${index}`, address)));
    for (const [index, pod] of pods.entries())
      await pod.ask('serveSlowly', { port: 8080, ms: index === 0 ? FOR_EVER : 0 });
    proxy = await ProxyProcess.start({ host: testbed.node, config: testConfig, objects });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed?.close();
  });

  it('go to other endpoints than the one that keeps them open, and to all alike when it has ended them', async () => {
    // A third of them, more or less.
    expect(await partOfSlow(90)).toBeGreaterThan(0.05);
    const { open } = await connectionsTo(pods[0]!);
    await slots('the slow endpoint gets less than others', (part) => part < 0.1);
    expect(await slowEndpoint()).toMatchObject({ openConnections: open });
    // More than 7 standard deviations above its part.
    expect(await partOfSlow(MANY)).toBeLessThan(0.21);
    await pods[0]!.ask('endAccepted', {});
    await slots('all endpoints get about the same', (part) => part > 0.25);
    expect(await partOfSlow(MANY)).toBeGreaterThan(0.1);
  });
});
