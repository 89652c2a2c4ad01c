import { setTimeout as sleep } from 'node:timers/promises';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { statusOf } from '../support/program/status.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import type { Host } from '../support/testbed/host.js';
import { Testbed } from '../support/testbed/testbed.js';

/** What `status` shows may be so old. Milliseconds. */
const FRESH = 1_100;

const VIP = { IPv4: '172.30.20.1', IPv6: 'fd00:172:30::20' } as const;
const ENDPOINT = { IPv4: '10.244.1.21', IPv6: 'fd00:10:244:1::21' } as const;
const ports = [{ name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
const MODES: readonly ModeName[] = ['nftables', 'iptables'];

let testbed: Testbed;
let proxy: ProxyProcess | undefined;
beforeAll(async () => {
  testbed = await Testbed.open();
  const pod = await testbed.addPod('one', ENDPOINT.IPv4, ENDPOINT.IPv6);
  await pod.ask('serveTransfers', { port: 8080 });
});
afterAll(() => testbed.close());
afterEach(async () => {
  await proxy?.remove();
  await testbed.flushNode();
});

const set = (setting: string, value: string) => testbed.node.run(['sysctl', '-qw', `${setting}=${value}`]);

/** Whether a connection stands within a second. */
const connects = (from: Host, dst: string): Promise<boolean> =>
  from.ask('connectOnce', { dst, port: 80, timeoutMs: 1_000 }).then(
    () => true,
    () => false,
  );

/** What status, explain and trace answer about connections from a pod: whether each mentions the setting, and the state and exit code. */
async function answers(setting: string, from: string, dst: string) {
  await sleep(FRESH);
  const { state, reasons } = await statusOf(testbed.node);
  const explained = await proxy!.answer('explain', 'default/web', '--probe');
  const to = dst.includes(':') ? `[${dst}]:80` : `${dst}:80`;
  const [desired, actual] = await Promise.all(
    [[], ['--kernel']].map((more) => proxy!.answer('trace', '--from', from, '--to', to, ...more)),
  );
  const mentions = (text: string): boolean => text.includes(setting);
  return {
    status: [state, reasons.some(mentions)],
    explain: [explained.exitCode, mentions(explained.stdout)],
    probe: explained.stdout.split('\n').some((line) => line.includes('probe of') && mentions(line)),
    trace: [desired!, actual!].map(({ stdout }) => mentions(stdout)),
  };
}

describe.each(MODES)('mode %s', (mode) => {
  it.each([
    ['IPv4', 'net.ipv4.ip_forward', '10.244.1.200'],
    ['IPv6', 'net.ipv6.conf.all.forwarding', 'fd00:10:244:1::200'],
  ] as const)('%s is not forwarded: %s=0', async (family, setting, from) => {
    const [dst, endpoints] = [VIP[family], [ENDPOINT[family]]];
    const objects = clusterObjects([{ name: 'web', clusterIP: dst, ports, endpoints }]);
    proxy = await ProxyProcess.start({ host: testbed.node, mode, config: testConfig, objects });
    expect(await connects(testbed.pod, dst)).toBe(true);
    const good = await answers(setting, from, dst);
    expect(good).toMatchObject({ status: ['ok', false], explain: [0, false], trace: [false, false] });
    await set(setting, '0');
    try {
      expect(await connects(testbed.pod, dst)).toBe(false);
      expect(await connects(testbed.node, dst)).toBe(true);
      expect(await answers(`${setting} is 0`, from, dst)).toMatchObject({
        status: ['degraded', true],
        explain: [1, true],
        probe: true,
        trace: [true, true],
      });
      expect(proxy.log).toContain('a kernel setting stops traffic to Services');
    } finally {
      await set(setting, '1');
    }
    expect(await connects(testbed.pod, dst)).toBe(true);
    expect(await answers(setting, from, dst)).toEqual(good);
  });

  it('pods on one bridge do not get the replies of each other: net.bridge.bridge-nf-call-iptables=0', async () => {
    const setting = 'net.bridge.bridge-nf-call-iptables';
    const [client, server] = [
      await onBridge(`${mode[0]}1`, '10.244.3.31'),
      await onBridge(`${mode[0]}2`, '10.244.3.32'),
    ];
    await server.ask('serveTransfers', { port: 8080 });
    const dst = VIP.IPv4;
    const objects = clusterObjects([{ name: 'web', clusterIP: dst, ports, endpoints: ['10.244.3.32'] }]);
    await set(setting, '1');
    proxy = await ProxyProcess.start({ host: testbed.node, mode, config: testConfig, objects });
    expect(await connects(client, dst)).toBe(true);
    const good = await answers(setting, '10.244.3.31', dst);
    expect(good).toMatchObject({ status: ['ok', false], explain: [0, false], trace: [false, false] });
    await set(setting, '0');
    expect(await connects(client, dst)).toBe(false);
    expect(await connects(testbed.pod, dst)).toBe(true);
    expect(await answers(`${setting} is 0`, '10.244.3.31', dst)).toMatchObject({
      status: ['degraded', true],
      explain: [1, true],
      probe: true,
      trace: [true, true],
    });
    const { trace } = await answers(setting, '10.244.1.200', dst);
    expect(trace).toEqual([false, false]);
    // The setting of the bridge itself does as well.
    await testbed.node.run(['ip', 'link', 'set', 'cni0', 'type', 'bridge', 'nf_call_iptables', '1']);
    expect(await connects(client, dst)).toBe(true);
    expect(await answers(setting, '10.244.3.31', dst)).toEqual(good);
    await testbed.node.run(['ip', 'link', 'set', 'cni0', 'type', 'bridge', 'nf_call_iptables', '0']);
    await set(setting, '1');
  });
});

/** A pod on the bridge cni0 of the node. */
async function onBridge(name: string, address: string): Promise<Host> {
  const pod = await testbed.addPod(name, address);
  await testbed.node.run([
    'sh',
    '-ec',
    `ip link show cni0 >/dev/null 2>&1 || { ip link add cni0 type bridge; ip link set cni0 up; ip addr add 10.244.3.1/24 dev cni0; }
     ip route del ${address}/32; ip addr flush dev veth${name}; ip link set veth${name} master cni0`,
  ]);
  await pod.run([
    'sh',
    '-ec',
    `ip addr flush dev eth0; ip addr add ${address}/24 dev eth0; ip route replace default via 10.244.3.1`,
  ]);
  return pod;
}
