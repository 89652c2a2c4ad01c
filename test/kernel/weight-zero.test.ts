import { WEIGHT_ANNOTATION } from '../../src/domain/decode/annotations.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askTimes, Backend, OpenConnection } from '../support/testbed/traffic.js';

const TO = [
  { what: 'http', dst: '172.30.20.41', port: 80 },
  { what: 'udp', dst: '172.30.20.41', port: 81 },
] as const;

/** In IPVS mode: `test/kernel/uml/inside/connections.ts`. */
describe('an endpoint of weight 0 keeps its connections and gets no new ones', () => {
  let testbed: Testbed;
  let proxy: ProxyProcess;
  let backends: readonly Backend[];

  const objects = (weights: readonly number[]) =>
    clusterObjects([
      {
        ...{ name: 'weighted', clusterIP: TO[0].dst, endpoints: backends.map(({ address }) => address) },
        annotations: {
          [WEIGHT_ANNOTATION]: JSON.stringify(
            Object.fromEntries(backends.map(({ address }, index) => [address, weights[index]])),
          ),
        },
        ports: [
          { name: 'http', protocol: 'TCP', port: TO[0].port, targetPort: 8080 },
          { name: 'udp', protocol: 'UDP', port: TO[1].port, targetPort: 8080 },
        ],
      },
    ]);

  beforeAll(async () => {
    testbed = await Testbed.open();
    backends = [
      await Backend.start(testbed, 'b1', '10.244.1.11'),
      await Backend.start(testbed, 'b2', '10.244.1.12'),
    ];
  });
  afterAll(() => testbed?.close());
  afterEach(() => proxy?.remove());

  it.each(['nftables', 'iptables', 'userspace'] as const)('in %s mode', async (mode) => {
    proxy = await ProxyProcess.start({
      ...{ host: testbed.node, mode, config: `${testConfig}udpIdleTimeout: 1m\n`, objects: objects([3, 5]) },
    });
    for (const to of TO) {
      const standing = await OpenConnection.open(testbed.pod, to);
      const { body: name } = await standing.ask();
      const isFirst = name === backends[0]!.name;
      await proxy.change(objects(isFirst ? [0, 5] : [3, 0]));
      const other = backends[isFirst ? 1 : 0]!;
      expect(await askTimes(4, testbed.pod, to)).toEqual(Array(4).fill(other.name));
      expect(await standing.ask()).toMatchObject({
        body: name,
        ...(to.what === 'http' && { connections: 1 }),
      });
      await proxy.change(objects([3, 5]));
    }
  });
});
