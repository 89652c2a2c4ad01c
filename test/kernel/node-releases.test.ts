import { NODE_RELEASES, nodeRelease } from '../support/node-releases.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { RulesetMonitor } from '../support/testbed/ruleset.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend } from '../support/testbed/traffic.js';

const ADDRESSES = { web: '172.30.20.3', later: '172.30.20.4' };
const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 } as const;

let testbed: Testbed;
let backend: Backend;
let proxy: ProxyProcess | undefined;

beforeAll(async () => {
  testbed = await Testbed.open();
  backend = await Backend.start(testbed, 'b1', '10.244.1.11');
});
afterAll(() => testbed.close());
afterEach(() => proxy?.remove());

const objects = (...names: readonly (keyof typeof ADDRESSES)[]): string =>
  clusterObjects(
    names.map((name) => ({
      name,
      clusterIP: ADDRESSES[name],
      ports: [http],
      endpoints: [backend.address],
    })),
  );

/** Who answers at the address of a Service. */
const reached = (name: keyof typeof ADDRESSES): Promise<string> =>
  askOnce(testbed.pod, { what: 'http', dst: ADDRESSES[name], port: 80 });

it.each(['nftables', 'iptables'] as const)(
  'in %s mode each Node programs the kernel, and the next one takes over without a write',
  async (mode) => {
    for (const [index, release] of NODE_RELEASES.entries()) {
      const node = nodeRelease(release);
      const monitor = await RulesetMonitor.start(testbed.node);
      const options = { host: testbed.node, config: testConfig, node, mode };
      proxy = await ProxyProcess.start({ ...options, objects: objects('web') });
      if (index > 0) expect(await monitor.written(testbed.node)).toEqual([]);
      await monitor.stop();
      expect(await reached('web')).toBe('b1');

      await proxy.change(objects('web', 'later'));
      expect(await reached('later')).toBe('b1');
      const { stdout, exitCode } = await proxy.answer('status');
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining('2 service ports programmed')]);
      if (node !== process.execPath) expect(stdout).toContain(`Node.js v${release}.`);
      await proxy.change(objects('web'));
      expect(await proxy.stop()).toBe(0);
      await proxy.remove();
    }
  },
);
