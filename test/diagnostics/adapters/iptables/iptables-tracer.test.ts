import { iptablesBackend } from '../../../support/backends.js';
import fc from 'fast-check';
import { ToolFailedError } from '../../../../src/adapters/tool-programs.js';
import { IptablesTracer } from '../../../../src/diagnostics/adapters/rules/iptables-rules.js';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { MemoryLogger } from '../../../../src/testing/fakes/memory-logger.js';
import { MemoryIptables } from '../../../support/fakes/memory-iptables.js';
import { serviceEntries } from '../../../support/iptables/arbitraries.js';
import { comparableEndings, NODE_ENVIRONMENT, packets } from '../../../support/iptables/packets.js';
import { HOST, nodeNetwork } from '../../../support/iptables/services.js';
import { ARRIVING, NODE } from '../../../support/iptables/walked.js';
import { entryOf } from '../../../adapters/ipvs/services.js';

const readHost = () => Promise.resolve(HOST);

describe('the tracer of mode iptables', () => {
  it.each(IP_FAMILIES)(
    'meets in compiled rules what it meets in the tables of a backend: %s',
    async (family) => {
      const entries = fc.tuple(serviceEntries(family, 'a'), serviceEntries(family, 'b'));
      await fc.assert(
        fc.asyncProperty(
          entries,
          fc.array(packets(family), { minLength: 12, maxLength: 12 }),
          async (lists, sent) => {
            const iptables = new MemoryIptables();
            const backend = iptablesBackend(family, iptables, undefined, readHost, new MemoryLogger());
            const node = { ...nodeNetwork(family), masqueradeAll: lists[0].length > 1 };
            await backend.start(lists.flat(), node);
            const tracer = new IptablesTracer(readHost, () => iptables.save(family));
            const actual = await tracer.actual();
            const desired = await tracer.desired(lists.flat(), node);
            for (const packet of sent) {
              const endings = desired.walk(packet, NODE_ENVIRONMENT);
              expect(comparableEndings(endings)).toEqual(
                comparableEndings(await actual.walk(packet, NODE_ENVIRONMENT)),
              );
            }
          },
        ),
        { numRuns: 12 },
      );
    },
  );

  it('has one ending for each of very many endpoints', async () => {
    const addresses = Array.from({ length: 900 }, (_, index) => index);
    const entry = entryOf('j', addresses);
    const tracer = new IptablesTracer(readHost, () => Promise.reject(new Error('not asked')));
    const walk = await tracer.desired([entry], nodeNetwork());
    const endings = walk.walk(ARRIVING, NODE);
    expect(endings).toHaveLength(900);
    for (const { probability, steps } of endings) {
      expect(probability).toBeCloseTo(1 / 900, 5);
      expect(steps.length).toBeLessThan(10);
    }
    expect(endings[899]!.steps.find(({ where }) => where === 'nat KUBE-SERVICES')).toMatchObject({
      servicePort: 'shop/j',
    });
  });

  it('sees and names what another program put in the way', async () => {
    const iptables = new MemoryIptables();
    const backend = iptablesBackend('IPv4', iptables, undefined, readHost, new MemoryLogger());
    await backend.start([entryOf('j')], nodeNetwork());
    iptables.tamper(
      'IPv4',
      '*filter\n-I FORWARD -d 10.244.0.0/16 -p tcp -m tcp --dport 8080 -j DROP\nCOMMIT\n',
    );
    const tracer = new IptablesTracer(readHost, () => iptables.save('IPv4'));
    const [ending] = await (await tracer.actual()).walk(ARRIVING, NODE);
    expect(ending!.verdict).toBe('drop');
    expect(ending!.steps.filter(({ foreign }) => foreign)).toEqual([
      {
        hook: 'forward',
        where: 'filter FORWARD',
        rule: '-A FORWARD -d 10.244.0.0/16 -p tcp -m tcp --dport 8080 -j DROP',
        effect: 'drops it',
        foreign: true,
      },
    ]);
    const desired = await tracer.desired([entryOf('j')], nodeNetwork());
    expect(desired.walk(ARRIVING, NODE)).toMatchObject([{ verdict: 'forward' }]);
  });

  it('says why the tables cannot be read', async () => {
    const error = new ToolFailedError('iptables-save', 'no');
    await expect(new IptablesTracer(readHost, () => Promise.reject(error)).actual()).rejects.toBe(error);
  });
});
