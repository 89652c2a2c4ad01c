/** Converts objects of nf_tables, as they are listed, into the form in which packets are followed through them. */

import type {
  KernelChain,
  KernelElement,
  KernelRule,
  KernelSet,
  KernelTable,
} from '../../../domain/nftables/kernel/ruleset.js';
import { BINDING, ELEMENT_FLAG, SET_FLAG, VERDICT_CODES } from './nf-tables.js';
import type { ChainRecord, ElementRecord, RuleRecord, SetRecord, TableRecord } from './records.js';

/** A table without elements of sets: what takes the kernel only a few milliseconds to list. */
export interface ListedTable {
  readonly table: TableRecord;
  readonly chains: ReadonlyMap<string, KernelChain>;
  readonly sets: ReadonlyMap<string, SetRecord>;
  /** Parts were not found, because it or another table changed while it was listed. Other changes show in the generation. */
  readonly isTorn: boolean;
}

export function kernelTable(
  family: KernelTable['family'],
  { table, chains, sets }: ListedTable,
): KernelTable {
  return {
    family,
    name: table.name!,
    number: table.handle ?? 0,
    chains: new Chains(chains),
    sets: new Map([...sets].map(([name, set]) => [name, kernelSet(set)])),
  };
}

/** Rules or elements that were read later may lead to a chain that did not exist yet; its contents are unknown. */
class Chains extends Map<string, KernelChain> {
  override get(name: string): KernelChain {
    const unknown = {
      kind: 'unknown',
      name: `the chain ${name}, which was added while the others were read`,
    } as const;
    return super.get(name) ?? { name, number: 0, rules: [{ expressions: [unknown] }] };
  }
}

export function kernelChain(
  { name, handle = 0, hook: base, type = '', policy, flags = 0 }: ChainRecord,
  rules: readonly KernelRule[],
): KernelChain {
  const { hook, priority = 0 } = base ?? {};
  return {
    name: name!,
    number: handle,
    ...(hook && {
      hook: { type, hook, priority, policy: policy === VERDICT_CODES.drop ? 'drop' : 'accept' },
    }),
    ...((flags & BINDING) !== 0 && { isAnonymous: true }),
    rules,
  };
}

export function kernelRule({ expressions = [], userdata }: RuleRecord): KernelRule {
  const comment = userdata?.comment;
  return { expressions, ...(comment !== undefined && { comment }) };
}

function kernelSet({ name, flags = 0, keyLength = 0, timeout = 0, description }: SetRecord): KernelSet {
  const lengths = (description?.fields ?? []).map(({ length = 0 }) => length);
  const ranges = lengths.length > 1 ? lengths : ('single' as const);
  return {
    name: name!,
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
    ...(data?.verdict && { verdict: data.verdict }),
    ...((flags & ELEMENT_FLAG.INTERVAL_END) !== 0 && { isEnd: true }),
    ...(comment !== undefined && { comment }),
  };
}
