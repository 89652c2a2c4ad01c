import fc from 'fast-check';
import { NftablesTracer } from '../../../../src/diagnostics/adapters/rules/nftables-rules.js';
import { ForwardingTable } from '../../../../src/domain/forwarding/forwarding-table.js';
import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { endpointText } from '../../../support/trace/outcome.js';
import type { PacketPath } from '../../../../src/diagnostics/domain/trace/trace.js';
import {
  history,
  LOCAL_ADDRESSES,
  settings,
  survivors,
} from '../../../support/nftables/cluster-arbitraries.js';
import { expectedOutcome, type Expected } from '../../../support/nftables/expected-outcome.js';
import { InMemoryProxy } from '../../../support/nftables/in-memory-proxy.js';
import { packets } from '../../../support/nftables/pool-packets.js';

const tracer = new NftablesTracer(() => Promise.reject(new Error('there is no kernel')));
/** Of thousands for each cluster, a few, other ones each time. */
const STRIDE = 97;

function outcomeOf(endings: readonly PacketPath[]): Expected | 'mixed' {
  const [first] = endings;
  if (!first || endings.some(({ verdict }) => verdict !== first.verdict)) return 'mixed';
  if (first.verdict !== 'forward') return first.verdict;
  return new Map(endings.map((ending) => [endpointText(ending)!, ending.masquerade]));
}

describe('nftables rules', () => {
  it('lead packets where the forwarding table says', async () => {
    await fc.assert(
      fc.asyncProperty(history, settings, fc.nat(STRIDE - 1), async (changes, nodeSettings, first) => {
        const proxy = new InMemoryProxy([], nodeSettings, () => LOCAL_ADDRESSES);
        for (const { kind, object } of survivors(changes)) proxy.events.applied(kind, object);
        for (const family of IP_FAMILIES) {
          const { forwarding, network } = proxy.contexts.of(family, true);
          const table = new ForwardingTable();
          table.update(proxy.state, proxy.state.serviceKeys(), forwarding);
          const entries = [...table.entries()];
          const rules = await tracer.desired(entries, network);
          for (const packet of [...packets(family)].filter((_packet, place) => place % STRIDE === first)) {
            const isOwn = packet.inputInterface === undefined;
            const localAddresses = new Set(isOwn ? [...LOCAL_ADDRESSES, packet.source] : LOCAL_ADDRESSES);
            const endings = rules.walk(packet, { localAddresses });
            const outcome = expectedOutcome(entries, network, packet, localAddresses);
            expect({ packet, outcome: outcomeOf(endings) }).toEqual({ packet, outcome });
            const total = endings.reduce((sum, { probability }) => sum + probability, 0);
            expect(total).toBeCloseTo(1);
          }
        }
      }),
      { numRuns: 10 },
    );
  });
});
