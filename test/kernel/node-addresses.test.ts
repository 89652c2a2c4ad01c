import { parse, stringify } from 'yaml';
import { sampleOf } from '../support/nightly.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';

const NODE = '198.51.100.11';
const LATER = '198.51.100.12';
/** Far below the period of verifications, which is half a minute. */
const SOON = 15_000;

const config = stringify({ ...(parse(testConfig) as object), nodePortAddresses: ['198.51.100.0/24'] });
const web = {
  name: 'web',
  clusterIP: '172.30.20.31',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
} as const;

let testbed: Testbed;
let proxy: ProxyProcess | undefined;
beforeEach(async () => {
  testbed = await Testbed.open();
});
afterEach(async () => {
  await proxy?.remove();
  proxy = undefined;
  await testbed.close();
});

const ip = (command: string): Promise<string> => testbed.node.run(['ip', ...command.split(' ')]);
const ask = (dst: string): Promise<string> => askOnce(testbed.pod, { what: 'http', dst, port: 30080 });

it.each(sampleOf<ModeName>(['nftables', 'iptables']))(
  'in mode %s node ports answer where there is no carrier, and follow addresses as they come and go',
  async (mode) => {
    const { address } = await Backend.start(testbed, 'b1', '10.244.1.11');
    const objects = clusterObjects([{ ...web, endpoints: [address] }]);
    await ip('link set node0p down');
    expect(await ip('link show node0')).toContain('NO-CARRIER');
    proxy = await ProxyProcess.start({ host: testbed.node, mode, config, objects });
    expect(await ask(NODE)).toBe('b1');

    await expect(ask(LATER)).rejects.toThrow();
    await ip(`addr add ${LATER}/24 dev node0`);
    await until('the new address is answered', async () => (await ask(LATER)) === 'b1', SOON);
    expect(await ask(NODE)).toBe('b1');

    await ip(`addr delete ${NODE}/24 dev node0`);
    await ip(`addr add ${LATER}/32 dev lo`);
    const moved = async (): Promise<boolean> => {
      const command = mode === 'nftables' ? ['nft', 'list', 'ruleset'] : ['iptables-save'];
      const rules = await testbed.node.run(command);
      return !rules.includes(NODE) && rules.includes(LATER);
    };
    await until('the rules have the new address, and not the old one', moved, SOON);
  },
);

it.each(sampleOf<ModeName>(['nftables', 'iptables']))(
  'in mode %s the keywords primary and localhost stand for the address of the Node, and for loopback where the mode has it',
  async (mode) => {
    const { address } = await Backend.start(testbed, 'b1', '10.244.1.11');
    const objects = clusterObjects([{ ...web, endpoints: [address] }]);
    await ip(`addr add ${LATER}/24 dev node0`);
    const keywords = stringify({
      ...(parse(testConfig) as object),
      nodePortAddresses: ['localhost', 'primary'],
    });
    proxy = await ProxyProcess.start({ host: testbed.node, mode, config: keywords, objects });
    expect(await ask(NODE)).toBe('b1');
    await expect(ask(LATER)).rejects.toThrow();
    const local = askOnce(testbed.node, { what: 'http', dst: '127.0.0.1', port: 30080 });
    if (mode === 'iptables') expect(await local).toBe('b1');
    else await expect(local).rejects.toThrow();
    expect(proxy.log.match(/includes localhost but .* not supported on IPv6/g) ?? []).toHaveLength(
      mode === 'iptables' ? 1 : 0,
    );
  },
);
