import type {
  KernelChain,
  KernelElement,
  KernelHook,
  KernelRule,
  KernelSet,
  KernelTable,
} from '../../../../domain/nftables/kernel/ruleset.js';
import { ELEMENT_FLAG, SET_FLAG, VERDICT_CODES } from '../nf-tables.js';
import { HOOKS } from '../messages/hooks.js';
import { kernelExpressions, kernelVerdict } from './kernel-expression.js';
import type { ChainRecord, ElementRecord, RuleRecord, SetRecord } from '../messages/records.js';
import type { ListedTable } from './table-listing.js';

/** What was listed, in the terms in which packets are followed. */
export function kernelTable(
  family: KernelTable['family'],
  { table, chains, sets }: ListedTable<KernelRule>,
): KernelTable {
  const inOrder = [...chains.values()];
  return {
    family,
    name: table.name!,
    number: table.handle ?? 0,
    chains: new Chains(
      inOrder.map(({ chain, rules }, order) => [chain.name!, kernelChain(chain, order, rules)]),
    ),
    sets: new Map([...sets].map(([name, set]) => [name, kernelSet(name, set)])),
  };
}

/** Rules or elements that were read later may lead to a chain that was not there yet; nobody knows what is in it. */
class Chains extends Map<string, KernelChain> {
  override get(name: string): KernelChain {
    const unknown = {
      kind: 'unknown',
      name: `the chain ${name}, which came after the others were read`,
    } as const;
    return super.get(name) ?? { name, number: 0, rules: [{ expressions: [unknown] }] };
  }
}

/** @param order of chains that have no number yet, as nobody sent them to the kernel */
function kernelChain(
  { name, handle = 0, hook, type = '', policy }: ChainRecord,
  order: number,
  rules: readonly KernelRule[],
): KernelChain {
  const place = hook && HOOKS[hook.number ?? -1];
  const base: KernelHook | undefined = place && {
    type,
    hook: place,
    priority: (hook.priority ?? 0) | 0,
    policy: policy === VERDICT_CODES.drop ? 'drop' : 'accept',
  };
  return { name: name!, number: handle || order, ...(base && { hook: base }), rules };
}

export function kernelRule({ expressions = [], userdata }: RuleRecord): KernelRule {
  const comment = userdata?.comment;
  return { expressions: expressions.flatMap(kernelExpressions), ...(comment !== undefined && { comment }) };
}

function kernelSet(
  name: string,
  { flags = 0, keyLength = 0, timeout = 0, description }: SetRecord,
): KernelSet {
  const lengths = (description?.fields ?? []).map(({ length = 0 }) => length);
  const ranges = lengths.length > 1 ? lengths : ('single' as const);
  return {
    name,
    keyLength,
    ...((flags & SET_FLAG.INTERVAL) !== 0 && { ranges }),
    ...(timeout > 0 && { timeoutSeconds: timeout / 1000 }),
  };
}

export function kernelElement({ key, lastKey, data, flags = 0, userdata }: ElementRecord): KernelElement {
  const comment = userdata?.comment;
  return {
    ...(key?.value && { key: key.value }),
    ...(lastKey?.value && { lastKey: lastKey.value }),
    ...(data?.value && { value: data.value }),
    ...(data?.verdict && { verdict: kernelVerdict(data.verdict) }),
    ...((flags & ELEMENT_FLAG.INTERVAL_END) !== 0 && { isEnd: true }),
    ...(comment !== undefined && { comment }),
  };
}
