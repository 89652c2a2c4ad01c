import fc from 'fast-check';
import { IpvsTracer } from '../../../../src/diagnostics/adapters/rules/ipvs-rules.js';
import type { VirtualServerId } from '../../../../src/domain/ipvs/virtual-server.js';
import { IP_FAMILIES, type IpFamily } from '../../../../src/domain/net/ip-family.js';
import { serviceEntries } from '../../../support/iptables/arbitraries.js';
import { comparableEndings, NODE_ENVIRONMENT, packets } from '../../../support/iptables/packets.js';
import { ARRIVING, NODE } from '../../../support/iptables/walked.js';
import { MemoryNode, nodeNetwork } from '../../../adapters/ipvs/memory-node.js';
import { entryOf } from '../../../adapters/ipvs/services.js';

class TracedNode extends MemoryNode {
  /** The virtual servers that were asked for. */
  readonly asked: VirtualServerId[] = [];
  opened = 0;

  tracer(family: IpFamily = 'IPv4'): IpvsTracer {
    return new IpvsTracer(family, 'rr', () => {
      this.opened++;
      return {
        tables: this.iptables,
        sets: this.sets,
        addresses: this.addresses,
        servers: {
          find: (id) => {
            this.asked.push(id);
            return this.servers.find(id);
          },
        },
        close: () => this.opened--,
      };
    });
  }
}

describe('the tracer of mode ipvs', () => {
  it.each(IP_FAMILIES)(
    'meets in what is compiled what it meets in the kernel of a backend: %s',
    async (family) => {
      const entries = fc.tuple(serviceEntries(family, 'a'), serviceEntries(family, 'b'));
      await fc.assert(
        fc.asyncProperty(
          entries,
          fc.array(packets(family), { minLength: 12, maxLength: 12 }),
          async (lists, sent) => {
            const memory = new TracedNode();
            const network = {
              ...nodeNetwork(),
              family,
              nodeAddresses: [...NODE_ENVIRONMENT.localAddresses].filter(
                (address) => address.includes(':') === (family === 'IPv6'),
              ),
            };
            const all = lists.flat();
            expect((await memory.backend(family).start(all, network)).failed).toEqual([]);
            const actual = await memory.tracer(family).actual();
            const desired = await memory.tracer(family).desired(all, network);
            for (const packet of sent) {
              const endings = desired.walk(packet, NODE_ENVIRONMENT);
              const met = await actual.walk(packet, NODE_ENVIRONMENT);
              expect(comparableEndings(endings)).toEqual(comparableEndings(met));
            }
            expect(memory.opened).toBe(0);
          },
        ),
        { numRuns: 12 },
      );
    },
  );

  it('asks only for the virtual servers that the packet comes to', async () => {
    const memory = new TracedNode();
    await memory.backend().start([entryOf('a'), entryOf('j', [1, 2])], nodeNetwork());
    const walk = await memory.tracer().actual();
    expect(memory.asked).toEqual([]);
    const endings = await walk.walk(ARRIVING, NODE);
    expect(endings.map(({ endpoint }) => endpoint)).toEqual([
      { address: '10.244.1.1', port: 8080 },
      { address: '10.244.1.2', port: 8080 },
    ]);
    const all = { address: '10.96.0.10', protocol: 'TCP', port: 0 } as const;
    expect(memory.asked).toEqual([{ ...all, port: 80 }, all]);
  });

  it('sees a real server that only ends its connections, and rules of others before IPVS', async () => {
    const memory = new TracedNode();
    await memory.backend().start([entryOf('j', [1, 2])], nodeNetwork());
    const server = { address: '10.96.0.10', protocol: 'TCP', port: 80 } as const;
    memory.servers.tamper({
      kind: 'set-real',
      server,
      real: { address: '10.244.1.1', port: 8080, weight: 0 },
    });
    const sent = await (await memory.tracer().actual()).walk(ARRIVING, NODE);
    expect(sent).toMatchObject([{ endpoint: { address: '10.244.1.2' }, probability: 1 }]);
    memory.iptables.tamper('IPv4', '*filter\n-I INPUT -s 192.0.2.0/24 -j DROP\nCOMMIT\n');
    const [dropped] = await (await memory.tracer().actual()).walk(ARRIVING, NODE);
    expect(dropped!.verdict).toBe('drop');
    expect(dropped!.steps.at(-1)).toMatchObject({ where: 'filter INPUT', foreign: true });
  });

  it('closes what it opened where the kernel cannot be read', async () => {
    const memory = new TracedNode();
    memory.sets.fail(new Error('no sets'));
    await expect(memory.tracer().actual()).rejects.toThrow('no sets');
    memory.sets.fail(undefined);
    const walk = await memory.tracer().actual();
    memory.addresses.tamper(['10.96.0.10']);
    memory.servers.fail(new Error('no IPVS'));
    const own = { ...ARRIVING, destination: '198.51.100.1' };
    await expect(walk.walk(own, NODE)).rejects.toThrow('no IPVS');
    expect(memory.opened).toBe(0);
  });
});
