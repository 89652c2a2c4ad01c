import { expect } from 'expect';
import { after, before, describe, it } from 'node:test';
import { Command } from '../../../support/program/command.js';
import { ProxyProcess, type ModeName } from '../../../support/program/proxy-process.js';
import { clusterObjects, testConfig } from '../../../support/testbed/cluster-objects.js';
import type { iptablesVariants } from '../../../support/testbed/iptables-node.js';
import { NodeIptables } from '../../../support/testbed/iptables-node.js';
import { Testbed } from '../../../support/testbed/testbed.js';
import { askTimes, Backend } from '../../../support/testbed/traffic.js';

const rules = process.argv[2]!;
const [mode, variant] = rules.split('-') as [ModeName, (typeof iptablesVariants)[number]?];
const PATIENT = { what: 'http', timeoutMs: 60_000 } as const;
const web = { ...PATIENT, dst: '172.30.20.11', port: 80 };
const nodePort = { ...PATIENT, dst: '198.51.100.11', port: 30191, src: '198.18.0.50' };

/** What a node must do at the least, in an order in which each test needs the one before. */
describe(`the program over ${rules}`, () => {
  let testbed: Testbed;
  let proxy: ProxyProcess | undefined;
  let backends: readonly Backend[];
  before(async () => {
    testbed = await Testbed.open();
    if (variant) await new NodeIptables(testbed.node, variant).reset();
    backends = [
      await Backend.start(testbed, 'b1', '10.244.1.11'),
      await Backend.start(testbed, 'b2', '10.244.1.12'),
    ];
  });
  after(async () => {
    await proxy?.remove();
    await testbed.close();
  });

  const objects = (endpoints: readonly Backend[]): string =>
    clusterObjects([
      {
        name: 'web',
        clusterIP: web.dst,
        ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: nodePort.port }],
        endpoints: endpoints.map(({ address }) => address),
      },
    ]);

  it('starts, and programs its Services', async () => {
    const options = { host: testbed.node, mode, slow: true, config: testConfig };
    proxy = await ProxyProcess.start({ ...options, objects: objects(backends.slice(0, 1)) });
  });

  it('leads clients to the endpoint', async () => {
    for (const [client, frontend] of [
      [testbed.pod, web],
      [testbed.node, web],
      [testbed.ext, nodePort],
    ] as const)
      expect(await askTimes(2, client, frontend)).toEqual(['b1', 'b1']);
  });

  it('follows a change', async () => {
    await proxy!.change(objects(backends.slice(1)));
    expect(await askTimes(2, testbed.pod, web)).toEqual(['b2', 'b2']);
  });

  it('leaves its rules when it stops, and removes them with --cleanup', async () => {
    expect(await proxy!.stop()).toBe(0);
    expect(await askTimes(2, testbed.pod, web)).toEqual(['b2', 'b2']);
    const { exitCode, stderr } = await Command.run(testbed.node, ['--cleanup', '--proxy-mode', mode]);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    await expect(askTimes(1, testbed.ext, { ...nodePort, timeoutMs: 2_000 })).rejects.toThrow();
  });
});
