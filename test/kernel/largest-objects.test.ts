import { ProxyProcess } from '../support/program/proxy-process.js';
import { syncStateOf } from '../support/program/status.js';
import {
  clusterObjects,
  serviceObjects,
  testConfig,
  type TestService,
} from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend } from '../support/testbed/traffic.js';

const list = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const address = (first: string, index: number): string => `${first}.${index >> 8}.${index & 255}`;
const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;

const SMALL = { what: 'http', dst: '172.30.20.41', port: 80 } as const;
const LAST_PORT = { what: 'http', dst: '172.30.20.42', port: 20_000 } as const;
const LAST_IP = { what: 'http', dst: address('203.0', 9_999), port: 80 } as const;

const NOTHING = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [] });

/** By name: the largest objects that an API server accepts, as far as the node's memory allows to try them. */
function largest(backend: string): Readonly<Record<string, readonly object[]>> {
  const service = (parts: Partial<TestService> & Pick<TestService, 'name' | 'clusterIP'>) =>
    serviceObjects({ ports: [http], endpoints: [backend], ...parts });
  const [hashed] = service({
    name: 'endpoints',
    clusterIP: '172.30.20.43',
    annotations: {
      'kube-proxy-ts/load-balancing': 'maglev',
      'kube-proxy-ts/weight': JSON.stringify(
        Object.fromEntries(list(6_000, (index) => [address('10.250', index), index % 1_001])),
      ),
    },
  });
  const slices = list(16, (number) => {
    const [, slice] = service({
      name: 'endpoints',
      clusterIP: '172.30.20.43',
      endpoints: list(1_000, (index) => address('10.250', number * 1_000 + index)),
    });
    return { ...slice, metadata: { ...slice.metadata, name: `endpoints-${number}` } };
  });
  return {
    ports: service({
      name: 'ports',
      clusterIP: LAST_PORT.dst,
      ports: list(20_000, (index) => ({ ...http, name: `p${index + 1}`, port: index + 1 })),
    }),
    'external-ips': service({
      name: 'external-ips',
      clusterIP: '172.30.20.44',
      externalIPs: list(10_000, (index) => address('203.0', index)),
      affinitySeconds: 600,
    }),
    endpoints: [hashed, ...slices],
  };
}

/** Twenty times what it takes on a quiet machine. */
const TIMEOUT_MS = 400_000;

/** All of them without a kernel: `test/domain/forwarding/largest-objects.test.ts`. */
describe('the largest objects that an API server accepts', () => {
  let testbed: Testbed;
  let proxy: ProxyProcess;
  let backend: Backend;

  beforeAll(async () => {
    testbed = await Testbed.open();
    backend = await Backend.start(testbed, 'b1', '10.244.1.11');
    const small = { name: 'small', clusterIP: SMALL.dst, ports: [http], endpoints: [backend.address] };
    proxy = await ProxyProcess.start({
      host: testbed.node,
      slow: true,
      config: testConfig,
      objects: clusterObjects([small]),
    });
  });
  afterAll(async () => {
    await proxy?.remove();
    await testbed?.close();
  });

  it(
    'are programmed in nftables mode, and other Services are served while they come and go',
    async () => {
      const objects = largest(backend.address);
      const follow = async (text: (name: string) => string): Promise<void> => {
        for (const name of Object.keys(objects)) {
          const { appliedEvents } = await syncStateOf(testbed.node);
          await proxy.place(text(name), `${name}.yaml`);
          let isSettled = false;
          const settled = proxy.settled(appliedEvents).finally(() => (isSettled = true));
          const answers = new Set<string>();
          while (!isSettled) answers.add(await askOnce(testbed.pod, SMALL));
          await settled;
          expect([...answers]).toEqual([backend.name]);
        }
      };
      await follow((name) => objects[name]!.map((object) => JSON.stringify(object)).join('\n---\n'));
      for (const to of [LAST_PORT, LAST_IP]) expect(await askOnce(testbed.pod, to)).toBe(backend.name);
      await follow(() => NOTHING);
    },
    TIMEOUT_MS,
  );
});
