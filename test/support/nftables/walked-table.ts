import { kernelElementOf } from '../../../src/adapters/nftables/netlink/elements.js';
import { kernelTableOf } from '../../../src/diagnostics/adapters/rules/nftables-rules.js';
import { byteText } from '../../../src/domain/nftables/kernel/bytes.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { FindElement } from '../../../src/diagnostics/domain/nftables/elements.js';
import type {
  Expression,
  KernelChain,
  KernelElement,
  KernelSet,
  KernelTable,
} from '../../../src/domain/nftables/kernel/ruleset.js';
import { RulesetWalk } from '../../../src/diagnostics/domain/nftables/ruleset-walk.js';
import type { TableContents } from './table-contents.js';
import type { Packet, PacketEnvironment, PacketPath } from '../../../src/diagnostics/domain/trace/trace.js';

/** What a packet left in a dynamic set: set and key. */
export interface Remembered {
  readonly set: string;
  readonly key: string;
}

/** The beginning of the names of sets that tell what a rule remembers. */
const TELLS = 'remembers ';

/**
 * A table of ours as the kernel would list it, of which all elements are at hand. A packet that ends with a mark or a priority is
 * dropped: they serve the rules, and its receiver must not see them.
 */
export class WalkedTable {
  readonly table: KernelTable;
  private readonly elements = new Map<string, KernelElement>();

  constructor(family: IpFamily, { chains, counters, sets }: TableContents) {
    const table = kernelTableOf(family, {
      counters: [...counters],
      chains: [...chains.values()],
      sets: [...sets.values()].map(({ set, elements }) => ({ set, elements: [...elements.values()] })),
    });
    for (const { set, elements } of sets.values())
      for (const each of elements.values()) {
        const element = kernelElementOf(family, set, each);
        this.elements.set(`${set.name} ${byteText(element.key!)}`, element);
      }
    this.table = {
      ...table,
      chains: new Map([...table.chains].map(([name, chain]) => [name, telling(chain)])),
      sets: new Map([...table.sets].flatMap(([name, set]) => [[name, set], tellingSet(set)])),
    };
  }

  find(set: string, key: Uint8Array): KernelElement | undefined {
    return this.elements.get(`${set} ${byteText(key)}`);
  }

  walk(packet: Packet, environment: PacketEnvironment): readonly PacketPath[] {
    return walkTable(this.table, (set, key) => this.find(set, key), packet, environment);
  }
}

/** Sends a packet through a table of ours and nothing else. */
export function walkTable(
  table: KernelTable,
  find: WalkedTable['find'],
  packet: Packet,
  { localAddresses, remembered }: PacketEnvironment,
): readonly PacketPath[] {
  const findElement: FindElement = (_, { name }, key) => {
    const text = Buffer.from(key).toString('hex');
    if (name.startsWith(TELLS)) return { comment: `${name} ${text}` };
    return remembered?.get(name)?.has(text) ? { key } : find(name, key);
  };
  const ruleset = { tables: [table, RECEIVER], deviceNumbers: new Map<string, number>() };
  return new RulesetWalk(ruleset, packet, localAddresses, findElement, () => undefined).paths();
}

/** What the rules that this ending met have remembered of the client. */
export function rememberedBy({ steps }: PacketPath): Remembered | undefined {
  const { servicePort = '' } = steps.at(-1) ?? {};
  if (!servicePort.startsWith(TELLS)) return undefined;
  const [set, key] = servicePort.slice(TELLS.length).split(' ') as [string, string];
  return { set, key };
}

/** The chain, with a lookup behind each rule that remembers, whose element tells the key to the rest of the walk. */
function telling(chain: KernelChain): KernelChain {
  const tell = (expression: Expression): readonly Expression[] =>
    expression.kind === 'remember'
      ? [expression, { kind: 'lookup', set: TELLS + expression.set, from: expression.from, inverted: false }]
      : [expression];
  return {
    ...chain,
    rules: chain.rules.map((rule) => ({ ...rule, expressions: rule.expressions.flatMap(tell) })),
  };
}

function tellingSet(set: KernelSet): [string, KernelSet] {
  const name = TELLS + set.name;
  return [name, { ...set, name }];
}

/** Drops, as the last one, packets with a mark or a priority. */
const RECEIVER: KernelTable = {
  family: 'inet',
  name: 'receiver',
  number: 99,
  sets: new Map(),
  chains: new Map(
    (['input', 'postrouting'] as const).map((hook) => [
      hook,
      {
        name: hook,
        number: 1,
        hook: { type: 'filter', hook, priority: 10_000, policy: 'accept' },
        rules: (['mark', 'priority'] as const).map((key) => ({
          expressions: [
            { kind: 'meta', to: 0, key },
            { kind: 'cmp', from: 0, op: '!=', value: Buffer.alloc(4) },
            { kind: 'verdict', verdict: { code: 'drop' } },
          ],
        })),
      },
    ]),
  ),
};
