import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import type { PacketPath, Packet } from '../../../src/diagnostics/domain/trace/trace.js';
import { endpointText, outcomeOf } from '../../support/trace/outcome.js';
import { contentsOf } from '../../support/nftables/table-contents.js';
import { TableChange } from '../../../src/domain/nftables/state/service-port-rules.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import { rememberedBy, WalkedTable } from '../../support/nftables/walked-table.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';
import { readScenario, scenarioNames, type Scenario } from '../../support/recorded/scenarios.js';
import { planOf, type Family, type Target } from '../../support/testbed/probe-plan.js';
import type { Verdict } from '../../support/testbed/probe.js';
import { localAddresses, ownAddressTowards } from '../../support/testbed/network.js';
import { clients, settingsOf } from '../../support/recorded/walk-testbed.js';
import { parsedObjects } from '../../support/recorded/parsed-objects.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';

const FAMILIES: Record<Family, IpFamily> = { ipv4: 'IPv4', ipv6: 'IPv6' };

/** The table that the whole way from objects makes, for one family. */
function tableOf(scenario: Scenario, objects: string, family: IpFamily): WalkedTable {
  const proxy = new InMemoryProxy([], settingsOf(scenario.config), () => [...localAddresses]);
  for (const object of parsedObjects<{ readonly kind: ResourceKind }>(objects))
    proxy.events.applied(object.kind, object);
  expect(proxy.reports.rejected).toEqual([]);
  const { forwarding, network } = proxy.contexts.of(family, true);
  const table = new ForwardingTable();
  table.update(proxy.state, proxy.state.serviceKeys(), forwarding);
  const desired = new NftablesDesiredState();
  for (const entry of table.entries()) desired.replace(entry.key, compileNftables(entry), new TableChange());
  return new WalkedTable(family, contentsOf(desiredTable(desired, network)));
}

function packetOf(target: Target, client: string, family: Family): Packet {
  const { inputInterface, source } = clients[client]!;
  return {
    family: FAMILIES[family],
    inputInterface,
    source: source[family] ?? ownAddressTowards(target.dst),
    destination: target.dst,
    protocol: target.proto === 'tcp' ? 'TCP' : 'UDP',
    destinationPort: target.port,
  };
}

/** What the probe would see of these endings: whether a source was rewritten shows only where the address differs. */
function verdictOf(endings: readonly PacketPath[], packet: Packet, sticky: boolean): Verdict {
  const outcome = outcomeOf(endings);
  if (outcome === 'mixed') throw new Error(`packets meet different fates: ${JSON.stringify(endings)}`);
  // Nothing listens on the node, so it refuses the connection.
  if (outcome === 'untouched') return localAddresses.has(packet.destination) ? 'reject' : 'untouched';
  if (typeof outcome === 'string') return outcome;
  const rewritten = new Set(
    endings.map(
      ({ endpoint, masquerade }) => masquerade && ownAddressTowards(endpoint!.address) !== packet.source,
    ),
  );
  const masq = rewritten.size === 1 ? [...rewritten][0]! : 'mixed';
  if (!sticky) return { to: outcome.to, masq };
  return { ...(packet.inputInterface === undefined ? {} : { masq }), sticky: true };
}

/** A client that comes again is sent where it was sent before, and nowhere else; that does not concern others. */
function expectReturns(table: WalkedTable, packet: Packet, endings: readonly PacketPath[]): void {
  for (const ending of endings) {
    if (ending.verdict !== 'forward') continue;
    const { set, key } = rememberedBy(ending)!;
    const remembered = new Map([[set, new Set([key])]]);
    const again = outcomeOf(table.walk(packet, { localAddresses, remembered }));
    expect(again).toMatchObject({ to: [endpointText(ending)] });
    const other = { ...packet, source: packet.source.replace(/.$/, (last) => (last === '7' ? '6' : '7')) };
    const first = outcomeOf(table.walk(other, { localAddresses }));
    expect(outcomeOf(table.walk(other, { localAddresses, remembered }))).toEqual(first);
  }
}

describe.each(await scenarioNames())('the walk through the rules of %s', (name) => {
  it('gives every packet the fate that was recorded', async () => {
    const scenario = await readScenario(name);
    for (const { number, objects, packets } of scenario.steps) {
      for (const family of ['ipv4', 'ipv6'] as const) {
        const expected = packets[family] ?? {};
        const table = tableOf(scenario, objects, FAMILIES[family]);
        const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
        const actual = Object.fromEntries(
          Object.keys(expected).map((key) => {
            const [label, client] = key.split(' from ') as [string, string];
            const target = targets.get(label)!;
            const packet = packetOf(target, client, family);
            const endings = table.walk(packet, { localAddresses });
            if (target.sticky) expectReturns(table, packet, endings);
            return [key, verdictOf(endings, packet, target.sticky)];
          }),
        );
        expect({ step: number, family, ...actual }).toEqual({ step: number, family, ...expected });
      }
    }
  });
});
