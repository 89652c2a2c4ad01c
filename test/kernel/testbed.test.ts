import { readdir } from 'node:fs/promises';
import { Testbed } from '../support/testbed/testbed.js';
import { askOnce, Backend, errorsOf, OpenConnection, SteadyClient } from '../support/testbed/traffic.js';

const namespaces = async (testbed: Testbed): Promise<string[]> => {
  const own = testbed.node.name.replace(/node1$/, '');
  return (await readdir('/run/netns')).filter((name) => name.startsWith(own));
};

describe('the test bed', () => {
  it('stands side by side with another, each with its own packets', async () => {
    const testbeds = await Promise.all([Testbed.open(), Testbed.open()]);
    try {
      for (const [position, testbed] of testbeds.entries())
        await Backend.start(testbed, `b${position}`, '10.244.3.5');
      for (const [position, testbed] of testbeds.entries()) {
        for (const client of [testbed.pod, testbed.node, testbed.ext]) {
          for (const what of ['http', 'udp'] as const) {
            expect(await askOnce(client, { what, dst: '10.244.3.5', port: 8080 })).toBe(`b${position}`);
          }
        }
      }
    } finally {
      await Promise.all(testbeds.map((testbed) => testbed.close()));
    }
  });

  it('removes all its hosts, whatever still runs in them', async () => {
    const testbed = await Testbed.open();
    const lingering = testbed.node.run(['sleep', '600']);
    lingering.catch(() => undefined);
    await Backend.start(testbed, 'b1', '10.244.1.5');
    expect(await namespaces(testbed)).toHaveLength(5);
    await testbed.close();
    expect(await namespaces(testbed)).toEqual([]);
    await expect(lingering).rejects.toThrow(/SIGKILL/);
  });

  it('has clients that give up in time where packets are swallowed, and tell what they waited for', async () => {
    const testbed = await Testbed.open();
    try {
      const nowhere = { what: 'http', dst: '172.30.99.99', port: 80 } as const;
      const client = await SteadyClient.start(testbed.pod, nowhere, 20, 300);
      await expect(OpenConnection.open(testbed.pod, nowhere)).rejects.toThrow('no answer within 5000 ms');
      const stopping = Date.now();
      const requests = await client.stop();
      expect(Date.now() - stopping).toBeLessThan(30_000);
      expect(requests.length).toBeGreaterThan(10);
      expect(errorsOf(requests)).toEqual({
        'http://172.30.99.99:80/: no answer within 300 ms': requests.length,
      });
    } finally {
      await testbed.close();
    }
  });

  it('tells what failed when an agent dies', async () => {
    const testbed = await Testbed.open();
    try {
      await testbed.pod.ask('udpAsk', { dst: '10.244.1.1', port: 9 }).catch(() => undefined);
      const answer = testbed.pod.ask('udpAsk', { dst: '169.254.77.2', port: 9, timeoutMs: 5000 });
      const outcome = expect(answer).rejects.toThrow(/pod1 ended/);
      await testbed.pod.killAgent();
      await outcome;
    } finally {
      await testbed.close();
    }
  });
});
