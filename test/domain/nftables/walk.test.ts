import { parseAllDocuments } from 'yaml';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { MalformedTable } from '../../../src/domain/nftables/walk/chain-walk.js';
import type { ChainRules } from '../../../src/domain/nftables/layout/node-rules.js';
import type { Statement } from '../../../src/domain/nftables/layout/rule.js';
import type { Ending } from '../../../src/domain/nftables/walk/ending.js';
import { endpointText, outcomeOf } from '../../support/trace/outcome.js';
import type { Packet } from '../../../src/domain/trace/packet.js';
import { contentsOf, type TableContents } from '../../../src/domain/nftables/text/table-contents.js';
import { TableChange } from '../../../src/domain/nftables/state/table-change.js';
import { desiredTable } from '../../../src/domain/nftables/state/desired-table.js';
import { walk } from '../../../src/domain/nftables/walk/walk.js';
import { InMemoryProxy } from '../../support/nftables/in-memory-proxy.js';
import { readScenario, scenarioNames, type Scenario } from '../../support/recorded/scenarios.js';
import { planOf, type Family, type Target } from '../../support/testbed/probe-plan.js';
import type { Verdict } from '../../support/testbed/probe.js';
import {
  clients,
  localAddresses,
  ownAddressTowards,
  settingsOf,
} from '../../support/recorded/walk-testbed.js';
import type { ResourceKind } from '../../../src/application/ports/cluster-source.js';

const FAMILIES: Record<Family, IpFamily> = { ipv4: 'IPv4', ipv6: 'IPv6' };

/** The table that the whole way from objects makes, for one family. */
function tableOf(scenario: Scenario, objects: string, family: IpFamily): TableContents {
  const proxy = new InMemoryProxy([], settingsOf(scenario.config), () => [...localAddresses]);
  for (const document of parseAllDocuments(objects)) {
    const object = document.toJS() as { kind: ResourceKind } | null;
    if (object) proxy.events.applied(object.kind, object);
  }
  expect(proxy.reports.rejected).toEqual([]);
  const { forwarding, network } = proxy.contexts.of(family, true);
  const table = new ForwardingTable();
  table.update(proxy.state, proxy.state.serviceKeys(), forwarding);
  const desired = new NftablesDesiredState();
  for (const entry of table.entries()) desired.replace(entry.key, compileNftables(entry), new TableChange());
  return contentsOf(desiredTable(desired, network));
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
function verdictOf(endings: readonly Ending[], packet: Packet, sticky: boolean): Verdict {
  const outcome = outcomeOf(endings);
  if (outcome === 'mixed') throw new Error(`packets meet different fates: ${JSON.stringify(endings)}`);
  // Nothing listens on the node, so it refuses the connection.
  if (outcome === 'untouched') return localAddresses.has(packet.destination) ? 'refused' : 'untouched';
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

/** Mark and priority served the rules; the receiver of the packet must not see them. */
function expectNothingLeftBehind(endings: readonly Ending[]): void {
  for (const { verdict, mark, priority } of endings)
    if (verdict === 'sent') expect({ mark, priority }).toEqual({ mark: 0, priority: 0 });
}

/** A client that comes again is sent where it was sent before, and nowhere else. */
function expectReturns(table: TableContents, packet: Packet, endings: readonly Ending[]): void {
  for (const ending of endings) {
    const { verdict, remembers } = ending;
    if (verdict !== 'sent') continue;
    expect(remembers).toHaveLength(1);
    const remembered = new Map(remembers.map(({ set, key }) => [set, new Set([key])]));
    const again = outcomeOf(walk(table, packet, { localAddresses, remembered }));
    expect(again).toMatchObject({ to: [endpointText(ending)] });
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
            const endings = walk(table, packet, { localAddresses });
            expectNothingLeftBehind(endings);
            if (target.sticky) expectReturns(table, packet, endings);
            return [key, verdictOf(endings, packet, target.sticky)];
          }),
        );
        expect({ step: number, family, ...actual }).toEqual({ step: number, family, ...expected });
      }
    }
  });
});

describe('the walk', () => {
  const packet: Packet = {
    family: 'IPv4',
    inputInterface: 'eth0',
    source: '192.0.2.1',
    destination: '198.51.100.1',
    protocol: 'TCP',
    destinationPort: 80,
  };
  const environment = { localAddresses: new Set<string>() };
  const forward = { name: 'filter-forward', hook: { type: 'filter', hook: 'forward', priority: 0 } } as const;

  function tableWith(chains: readonly ChainRules[]): TableContents {
    return { chains: new Map(chains.map((chain) => [chain.chain.name, chain])), sets: new Map() };
  }

  it('comes back from a jump, and from a goto to where the chain was entered', () => {
    const chains = (verb: 'jump' | 'goto'): ChainRules[] => [
      {
        chain: forward,
        rules: [{ statements: [{ kind: 'jump', chain: 'one' }] }, { statements: [{ kind: 'reject' }] }],
      },
      {
        chain: { name: 'one' },
        rules: [{ statements: [{ kind: verb, chain: 'two' }] }, { statements: [{ kind: 'drop' }] }],
      },
      { chain: { name: 'two' }, rules: [{ statements: [{ kind: 'return' }] }] },
    ];
    expect(outcomeOf(walk(tableWith(chains('jump')), packet, environment))).toBe('dropped');
    expect(outcomeOf(walk(tableWith(chains('goto')), packet, environment))).toBe('refused');
  });

  it('goes every way where a number is drawn', () => {
    const statements: Statement[] = [
      { kind: 'set-priority', to: { modulus: 3, offset: 5 } },
      { kind: 'priority-at-least', value: 6 },
      { kind: 'drop' },
    ];
    const endings = walk(tableWith([{ chain: forward, rules: [{ statements }] }]), packet, environment);
    expect(endings.map(({ verdict, priority }) => [verdict, priority])).toEqual([
      ['dropped', 6],
      ['dropped', 7],
      ['untouched', 5],
    ]);
    expect(outcomeOf(endings)).toBe('mixed');
  });

  it('names the service port of the element that gave the priority', () => {
    const key = [{ field: 'daddr' }] as const;
    const name = { name: 'services', key: ['address'], value: ['priority'] } as const;
    const walked = (comment?: string) => {
      const element = { key: '198.51.100.1', value: '0:3', ...(comment !== undefined && { comment }) };
      const sets = new Map([['services', { set: name, elements: new Map([[element.key, element]]) }]]);
      const statements: Statement[] = [
        { kind: 'set-priority', to: { key, map: 'services' } },
        { kind: 'drop' },
      ];
      const { chains } = tableWith([{ chain: forward, rules: [{ statements }] }]);
      return walk({ chains, sets } as TableContents, packet, environment)[0]!;
    };
    const { priority, steps } = walked('shop/cart/tcp/http');
    expect([priority, steps.at(-1)!.servicePort]).toEqual([3, 'shop/cart/tcp/http']);
    expect(walked().steps.at(-1)).not.toHaveProperty('servicePort');
  });

  it('says what is missing in a table that cannot be walked', () => {
    const rules = (statement: Statement) =>
      tableWith([{ chain: forward, rules: [{ statements: [statement] }] }]);
    expect(() => walk(rules({ kind: 'jump', chain: 'gone' }), packet, environment)).toThrow(
      'chain gone does not exist',
    );
    expect(() =>
      walk(rules({ kind: 'member', key: [{ field: 'saddr' }], set: 'gone', is: '==' }), packet, environment),
    ).toThrow('set gone');
    expect(() => walk(rules({ kind: 'jump', chain: 'filter-forward' }), packet, environment)).toThrow(
      MalformedTable,
    );
  });
});
