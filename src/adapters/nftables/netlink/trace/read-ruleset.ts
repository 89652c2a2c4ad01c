import type {
  KernelChain,
  KernelHook,
  KernelRule,
  KernelSet,
  KernelTable,
} from '../../../../domain/nftables/kernel/ruleset.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { nftFamily } from '../../../../domain/nftables/layout/table.js';
import type { AttributeReader } from '../../../netlink/attribute-reader.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import type { NetlinkChannel } from '../../../netlink/netlink-channel.js';
import * as nf from '../nf-tables.js';
import { readCommit } from '../read/commit.js';
import { DisturbedReadError } from '../read/disturbed-read-error.js';
import { attributesOf, readUserdata } from '../read/table-reader.js';
import { readExpressions } from './read-expression.js';

const ATTEMPTS = 10;
const HOOKS: readonly KernelHook['hook'][] = ['prerouting', 'input', 'forward', 'output', 'postrouting'];

/** A table and the number of its family in requests. */
export interface ReadTable extends KernelTable {
  readonly familyWord: number;
}

/**
 * All tables that packets of a family meet, without elements of sets. Repeated if another program changes them meanwhile.
 * @throws DisturbedReadError if they change all the time
 */
export async function readTables(channel: NetlinkChannel, family: IpFamily): Promise<readonly ReadTable[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await readGeneration(channel);
    const own = await readFamily(channel, nf.familyWord(family), nftFamily(family));
    const both = await readFamily(channel, nf.INET_WORD, 'inet');
    if (before === (await readGeneration(channel))) return [...own, ...both];
  }
  throw new DisturbedReadError(family, ATTEMPTS);
}

async function readFamily(
  channel: NetlinkChannel,
  familyWord: number,
  family: KernelTable['family'],
): Promise<readonly ReadTable[]> {
  const list = (type: number, what: string, onEntry: (attributes: AttributeReader) => void) => {
    const put = (writer: MessageWriter) => writer.putWord(familyWord);
    const request = { type, attempt: `listing the ${what} of nf_tables`, put };
    return channel.dump(request, (message) => onEntry(attributesOf(message)));
  };
  const tables = new Map<string, OpenTable>();
  await list(nf.GETTABLE, 'tables', (attributes) => {
    const { name, number, flags } = readTable(attributes);
    if ((flags & nf.DORMANT) === 0)
      tables.set(name, { family, familyWord, name, number, chains: new Map(), sets: new Map() });
  });
  await list(nf.GETCHAIN, 'chains', (attributes) => {
    const { table, chain } = readChain(attributes);
    tables.get(table)?.chains.set(chain.name, chain);
  });
  await list(nf.GETRULE, 'rules', (attributes) => {
    const { table, chain, rule } = readRule(attributes);
    tables.get(table)?.chains.get(chain)?.rules.push(rule);
  });
  await list(nf.GETSET, 'sets', (attributes) => {
    const { table, set } = readSet(attributes);
    tables.get(table)?.sets.set(set.name, set);
  });
  return [...tables.values()];
}

interface OpenChain extends KernelChain {
  readonly rules: KernelRule[];
}

interface OpenTable extends ReadTable {
  readonly chains: Map<string, OpenChain>;
  readonly sets: Map<string, KernelSet>;
}

async function readGeneration(channel: NetlinkChannel): Promise<number> {
  let generation = 0;
  const put = (writer: MessageWriter) => writer.putWord(0);
  const request = { type: nf.GETGEN, attempt: 'reading the generation of nf_tables', put };
  await channel.ask(request, (message) => void ({ generation } = readCommit(message)));
  return generation;
}

function readTable(attributes: AttributeReader): { name: string; number: number; flags: number } {
  let name = '';
  let number = 0;
  let flags = 0;
  while (attributes.next()) {
    if (attributes.type === nf.TABLE.NAME) name = attributes.text();
    else if (attributes.type === nf.TABLE.HANDLE) number = attributes.number();
    else if (attributes.type === nf.TABLE.FLAGS) flags = attributes.number();
  }
  return { name, number, flags };
}

function readChain(attributes: AttributeReader): { table: string; chain: OpenChain } {
  let table = '';
  let name = '';
  let number = 0;
  let type = '';
  let policy: KernelHook['policy'] = 'accept';
  let place: { readonly hook: KernelHook['hook'] | undefined; readonly priority: number } | undefined;
  while (attributes.next()) {
    if (attributes.type === nf.CHAIN.TABLE) table = attributes.text();
    else if (attributes.type === nf.CHAIN.NAME) name = attributes.text();
    else if (attributes.type === nf.CHAIN.HANDLE) number = attributes.number();
    else if (attributes.type === nf.CHAIN.TYPE) type = attributes.text();
    else if (attributes.type === nf.CHAIN.POLICY) policy = attributes.number() === 0 ? 'drop' : 'accept';
    else if (attributes.type === nf.CHAIN.HOOK) place = readHook(attributes.nested());
  }
  if (!place?.hook) return { table, chain: { name, number, rules: [] } };
  const { hook, priority } = place;
  return { table, chain: { name, number, hook: { type, hook, priority, policy }, rules: [] } };
}

/** The hook is undefined for those that are none of IP. */
function readHook(attributes: AttributeReader): {
  readonly hook: KernelHook['hook'] | undefined;
  readonly priority: number;
} {
  let number = -1;
  let priority = 0;
  while (attributes.next()) {
    if (attributes.type === nf.HOOK.NUMBER) number = attributes.number();
    else if (attributes.type === nf.HOOK.PRIORITY) priority = attributes.number() | 0;
  }
  return { hook: HOOKS[number], priority };
}

function readRule(attributes: AttributeReader): { table: string; chain: string; rule: KernelRule } {
  let table = '';
  let chain = '';
  let rule: KernelRule = { expressions: [] };
  while (attributes.next()) {
    if (attributes.type === nf.RULE.TABLE) table = attributes.text();
    else if (attributes.type === nf.RULE.CHAIN) chain = attributes.text();
    else if (attributes.type === nf.RULE.EXPRESSIONS)
      rule = { ...rule, expressions: readExpressions(attributes.nested()) };
    else if (attributes.type === nf.RULE.USERDATA) {
      const { comment } = readUserdata(attributes.value());
      if (comment !== undefined) rule = { ...rule, comment };
    }
  }
  return { table, chain, rule };
}

function readSet(attributes: AttributeReader): { table: string; set: KernelSet } {
  let table = '';
  let name = '';
  let flags = 0;
  let keyLength = 0;
  let fields: readonly number[] = [];
  while (attributes.next()) {
    if (attributes.type === nf.SET.TABLE) table = attributes.text();
    else if (attributes.type === nf.SET.NAME) name = attributes.text();
    else if (attributes.type === nf.SET.FLAGS) flags = attributes.number();
    else if (attributes.type === nf.SET.KEY_LENGTH) keyLength = attributes.number();
    else if (attributes.type === nf.SET.DESCRIPTION) fields = readFields(attributes.nested());
  }
  const isOfRanges = (flags & nf.SET_FLAG.INTERVAL) !== 0;
  const ranges = fields.length > 1 ? fields : ('single' as const);
  return { table, set: { name, keyLength, ...(isOfRanges && { ranges }) } };
}

function readFields(description: AttributeReader): readonly number[] {
  const lengths: number[] = [];
  while (description.next()) {
    if (description.type !== nf.DESCRIPTION_CONCATENATION) continue;
    const list = description.nested();
    while (list.next()) {
      const field = list.nested();
      while (field.next()) if (field.type === nf.FIELD_LENGTH) lengths.push(field.number());
    }
  }
  return lengths;
}
