import { ElementEncoder } from '../../../src/adapters/nftables/netlink/encode/element-encoder.js';
import { putRule } from '../../../src/adapters/nftables/netlink/encode/rule-encoder.js';
import { setLayout } from '../../../src/adapters/nftables/netlink/encode/set-layout.js';
import { ELEMENTS, RULE } from '../../../src/adapters/nftables/netlink/nf-tables.js';
import { readElements } from '../../../src/adapters/nftables/netlink/trace/read-elements.js';
import { readExpressions } from '../../../src/adapters/nftables/netlink/trace/read-expression.js';
import { AttributeReader } from '../../../src/adapters/netlink/attribute-reader.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import type { Tracer, Walk } from '../../../src/application/ports/tracer.js';
import type { ForwardingEntry } from '../../../src/domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../src/domain/forwarding/node-network.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { compileNftables } from '../../../src/domain/nftables/compile.js';
import type { WantedElements } from '../../../src/domain/nftables/kernel/elements.js';
import { follow } from '../../../src/domain/nftables/kernel/follow.js';
import type {
  KernelChain,
  KernelElement,
  KernelRule,
  KernelTable,
} from '../../../src/domain/nftables/kernel/ruleset.js';
import type { ChainRules } from '../../../src/domain/nftables/layout/node-rules.js';
import type { Rule } from '../../../src/domain/nftables/layout/rule.js';
import { nftFamily, TABLE_NAME } from '../../../src/domain/nftables/layout/table.js';
import { NftablesDesiredState } from '../../../src/domain/nftables/state/desired-state.js';
import { desiredTable, type DesiredSet } from '../../../src/domain/nftables/state/desired-table.js';

/**
 * Follows packets through the expressions that are sent to the kernel, read back as the kernel would list them: what `trace --kernel`
 * does, without a kernel.
 */
export const encodedTracer: Tracer = {
  desired: walkOf,
  actual: () => Promise.reject(new Error('there is no kernel')),
};

function walkOf(entries: Iterable<ForwardingEntry>, node: NodeNetwork): Walk {
  const { family } = node;
  const desired = new NftablesDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileNftables(entry));
  const { chains, sets } = desiredTable(desired, node);
  const elements = new Map(sets.map((set) => [set.set.name, elementsOf(family, set)]));
  const table: KernelTable = {
    family: nftFamily(family),
    name: TABLE_NAME,
    number: 1,
    chains: new Map(chains.map((chain, number) => [chain.chain.name, kernelChain(family, chain, number)])),
    sets: new Map(
      sets.map(({ set }) => [set.name, { name: set.name, keyLength: setLayout(family, set).keyLength }]),
    ),
  };
  const read = ({ set, keys }: WantedElements): Promise<readonly KernelElement[]> => {
    const wanted = keys as readonly Uint8Array[];
    return Promise.resolve(
      elements.get(set.name)!.filter(({ key }) => wanted.some((each) => Buffer.from(each).equals(key!))),
    );
  };
  const ruleset = { tables: [table], deviceNumbers: new Map<string, number>() };
  return { walk: (packet, environment) => follow(ruleset, packet, environment, read) };
}

function kernelChain(family: IpFamily, { chain, rules }: ChainRules, number: number): KernelChain {
  return {
    name: chain.name,
    number,
    ...(chain.hook && { hook: { ...chain.hook, policy: 'accept' } }),
    rules: rules.map((rule) => kernelRule(family, rule)),
  };
}

/** The rule as the kernel gets it and lists it. */
export function kernelRule(family: IpFamily, rule: Rule): KernelRule {
  const writer = new MessageWriter(4096);
  putRule(writer, family, rule);
  const attributes = new AttributeReader(writer.bytes, 0, writer.length);
  while (attributes.next())
    if (attributes.type === RULE.EXPRESSIONS) return { expressions: readExpressions(attributes.nested()) };
  throw new Error('the rule has no expressions');
}

function elementsOf(family: IpFamily, { set, elements }: DesiredSet): readonly KernelElement[] {
  const found: KernelElement[] = [];
  for (const element of elements) {
    const writer = new MessageWriter(4096);
    writer.putWord(0);
    const list = writer.beginNest(ELEMENTS.LIST);
    new ElementEncoder(writer).put(set, setLayout(family, set), element, true);
    writer.endNest(list);
    readElements(
      { type: 0, flags: 0, sequence: 0, bytes: writer.bytes, start: 0, end: writer.length },
      found,
    );
  }
  return found;
}
