import fc from 'fast-check';
import type { RestoreOutcome } from '../../../src/adapters/iptables/iptables-commands.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import { SavedRules } from '../../../src/diagnostics/domain/iptables/saved-rules.js';
import { walkTables } from '../../../src/diagnostics/domain/iptables/tables-walk.js';
import type { Packet } from '../../../src/diagnostics/domain/trace/trace.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import type { ServicePortKey } from '../../../src/domain/model/service-port-name.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { iptablesBackend } from '../../support/backends.js';
import { MemoryIptables } from '../../support/fakes/memory-iptables.js';
import { follow, serviceChange } from '../../support/iptables/arbitraries.js';
import { NODE_ENVIRONMENT } from '../../support/iptables/packets.js';
import { HOST, nodeNetwork } from '../../support/iptables/services.js';
import { endpointText } from '../../support/trace/outcome.js';

/** Keeps what the tables were after each commit. */
class RememberingIptables extends MemoryIptables {
  readonly states: SavedTables[] = [];

  override async restore(family: IpFamily, input: Iterable<string>): Promise<RestoreOutcome> {
    let outcome: RestoreOutcome | undefined;
    for (const commit of [...input].join('').split(/(?<=^COMMIT\n)/m)) {
      outcome = await super.restore(family, [commit]);
      this.states.push(await this.save(family));
    }
    return outcome!;
  }
}

const CLIENTS = [
  { inputInterface: 'eth0', source: '192.0.2.7' },
  { inputInterface: undefined, source: '10.0.0.11' },
  { inputInterface: 'veth1', source: '10.0.0.20' },
];
const FRONTENDS = [1, 2, 3].flatMap((last) =>
  [53, 80].map((destinationPort) => ({ destination: `10.0.0.${last}`, destinationPort })),
);
const NODE_PORTS = [30000, 30001].map((destinationPort) => ({ destination: '10.0.0.11', destinationPort }));
const PACKETS: readonly Packet[] = CLIENTS.flatMap((client) =>
  [...FRONTENDS, ...NODE_PORTS].flatMap((frontend) =>
    (['TCP', 'UDP'] as const).map((protocol) => ({ family: 'IPv4', protocol, ...client, ...frontend })),
  ),
);

/** Of each packet, what it may meet. */
function verdicts(tables: SavedTables): readonly ReadonlySet<string>[] {
  const rules = new SavedRules(tables, (_table, chain) => chain.startsWith('KUBE-'));
  return PACKETS.map(
    (packet) =>
      new Set(walkTables(rules, packet, NODE_ENVIRONMENT).map((path) => endpointText(path) ?? path.verdict)),
  );
}

/** Which of several Services has an address of theirs is not asked here. */
const NAMES = ['a'];

describe('between the commits of a change, a packet meets what it meets before or after it', () => {
  const node = nodeNetwork();
  const open = (iptables: MemoryIptables): Backend =>
    iptablesBackend('IPv4', iptables, iptables.watch(), () => Promise.resolve(HOST), new MemoryLogger());

  it.each([
    ['while it runs', false],
    ['at a start', true],
  ])('%s', async (_, isStart) => {
    await fc.assert(
      fc.asyncProperty(serviceChange('IPv4', NAMES), serviceChange('IPv4', NAMES), async (first, change) => {
        const iptables = new RememberingIptables();
        const present = new Map<ServicePortKey, ForwardingEntry>();
        follow(first, present);
        let backend = open(iptables);
        await backend.start([...present.values()], node);
        const before = verdicts(await iptables.save('IPv4'));
        iptables.states.length = 0;
        const changes = follow(change, present);
        if (isStart) backend = open(iptables);
        const report = isStart
          ? await backend.start([...present.values()], node)
          : await backend.apply(changes, node);
        expect(report.failed).toEqual([]);
        const after = verdicts(await iptables.save('IPv4'));
        for (const [commit, tables] of iptables.states.entries())
          for (const [index, met] of verdicts(tables).entries()) {
            const allowed = new Set([...before[index]!, ...after[index]!]);
            // Where a Service with source ranges comes or goes, packets may be dropped a moment earlier or later.
            if (allowed.has('untouched')) allowed.add('drop');
            // At addresses outside the cluster, rules that reject do not concern what the node itself sends.
            if (PACKETS[index]!.inputInterface === undefined) allowed.add('untouched');
            const others = [...met].filter((one) => !allowed.has(one));
            if (others.length > 0)
              expect({ commit, packet: PACKETS[index], allowed, others }).toBeUndefined();
          }
      }),
      { numRuns: 100, seed: 1 },
    );
  });
});
