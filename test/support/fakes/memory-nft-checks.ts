import { parseAddress } from '../../../src/domain/net/address.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  formatPriority,
  parsePriority,
  type DataType,
  type Hook,
  type SetDefinition,
  type SetElement,
} from '../../../src/domain/nftables/layout/table.js';
import type { Expression, KernelRule } from '../../../src/domain/nftables/kernel/ruleset.js';
import type { TableContents } from '../nftables/table-contents.js';

/** A refusal by the kernel. `code` is its name for the error. */
export class KernelRejection extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
    readonly element?: number,
  ) {
    super(`${code}: ${detail}`);
    this.name = 'KernelRejection';
  }

  atElement(index: number): KernelRejection {
    return new KernelRejection(this.code, this.detail, index);
  }
}

/** The chain that a verdict leads to. */
export function verdictTarget(verdict: string | undefined): string | undefined {
  return /^(?:goto|jump) (.+)$/.exec(verdict ?? '')?.[1];
}

/** Chains and sets that the rule names must exist, and sets must have the types that it looks up. */
export function checkRule(family: IpFamily, { expressions }: KernelRule, table: TableContents): void {
  const loaded = new Map<number, DataType>();
  for (const expression of expressions) {
    if (expression.kind === 'verdict') {
      const { chain } = expression.verdict;
      if (chain !== undefined && !table.chains.has(chain))
        throw new KernelRejection('ENOENT', `chain ${chain}`);
    } else if (expression.kind === 'count') {
      const { counter } = expression;
      if (!table.counters.has(counter)) throw new KernelRejection('ENOENT', `counter ${counter}`);
    } else if (expression.kind === 'remember') {
      const { set, from } = expression;
      if (checkLookup(family, table, set, from, loaded).dynamicSize === undefined)
        throw new KernelRejection('EOPNOTSUPP', `set ${set} is not dynamic`);
    } else if (expression.kind === 'lookup') {
      const { set, from, to } = expression;
      const { value } = checkLookup(family, table, set, from, loaded);
      const found = value === undefined ? undefined : value === 'verdict' ? 'verdict' : 0;
      if ((typeof to === 'number' ? 0 : to) !== found)
        throw new KernelRejection('EINVAL', `set ${set} has other values than the lookup`);
      if (typeof to === 'number' && Array.isArray(value)) loaded.set(to, (value as readonly DataType[])[0]!);
    } else {
      const type = typeOf(expression);
      if (type && 'to' in expression) loaded.set(expression.to as number, type);
    }
  }
}

/** What an expression loads. */
function typeOf(expression: Expression): DataType | undefined {
  switch (expression.kind) {
    case 'payload':
      return expression.base === 'network' ? 'address' : 'port';
    case 'meta':
      return expression.key === 'l4proto' ? 'protocol' : 'priority';
    case 'random':
    case 'hash':
      return 'slot';
    default:
      return undefined;
  }
}

function checkLookup(
  family: IpFamily,
  table: TableContents,
  name: string,
  from: number,
  loaded: ReadonlyMap<number, DataType>,
): SetDefinition {
  const contents = table.sets.get(name);
  if (!contents) throw new KernelRejection('ENOENT', `set ${name}`);
  const { set } = contents;
  let at = from;
  for (const type of set.key) {
    if (loaded.get(at) !== type)
      throw new KernelRejection('EINVAL', `set ${name} has other types than the lookup`);
    at += type === 'address' && family === 'IPv6' ? 16 : 4;
  }
  return set;
}

/** Key and value must be what the set holds. */
export function checkElement(family: IpFamily, set: SetDefinition, { key, value }: SetElement): void {
  const valid =
    isData(family, key, set.key) &&
    (set.value === undefined
      ? value === undefined
      : value !== undefined &&
        (set.value === 'verdict'
          ? /^(?:drop|accept|return|(?:goto|jump) \S+)$/.test(value)
          : isData(family, value, set.value)));
  if (!valid)
    throw new KernelRejection('EINVAL', `${set.name} cannot hold ${JSON.stringify({ key, value })}`);
}

function isData(family: IpFamily, text: string, types: readonly DataType[]): boolean {
  const parts = text.split(' . ');
  return parts.length === types.length && types.every((type, index) => isOfType(family, type, parts[index]!));
}

function isOfType(family: IpFamily, type: DataType, text: string): boolean {
  switch (type) {
    case 'address':
      return familyOf(text) === family;
    case 'protocol':
      return text === 'tcp' || text === 'udp' || text === 'sctp';
    case 'port':
      return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65535;
    case 'priority':
      return formatPriority(parsePriority(text)) === text;
    case 'slot':
      return /^(?:0|[1-9]\d{0,9})$/.test(text) && Number(text) <= 0xffffffff;
  }
}

/** Of addresses, and other texts: the slots of a service name the same endpoints thousands of times. */
const families = new Map<string, IpFamily | undefined>();

/** Undefined where a text is no address in its canonical form. */
function familyOf(text: string): IpFamily | undefined {
  if (!families.has(text)) {
    if (families.size >= 10_000) families.clear();
    const address = parseAddress(text);
    families.set(text, address?.text === text ? address.family : undefined);
  }
  return families.get(text);
}

/** How deep jumps may go (NFT_JUMP_STACK_SIZE). */
const MAX_DEPTH = 16;

/** From every hook: no loop, not too deep, and only statements that the hook allows. */
export function checkReach(table: TableContents): void {
  for (const { chain } of table.chains.values()) {
    if (chain.hook) new Reach(table, chain.hook).follow(chain.name, []);
  }
}

class Reach {
  private readonly seen = new Set<string>();

  constructor(
    private readonly table: TableContents,
    private readonly hook: Hook,
  ) {}

  follow(name: string, path: readonly string[]): void {
    if (path.includes(name)) throw new KernelRejection('ELOOP', [...path, name].join(' → '));
    if (path.length >= MAX_DEPTH) throw new KernelRejection('EMLINK', `${path.join(' → ')} is too deep`);
    if (this.seen.has(`${path.length} ${name}`)) return;
    this.seen.add(`${path.length} ${name}`);
    for (const { expressions } of this.table.chains.get(name)!.rules) {
      for (const expression of expressions) {
        if (!isAllowed(expression, this.hook))
          throw new KernelRejection(
            'EOPNOTSUPP',
            `${expression.kind} in chain ${name}, reached from ${path[0]}`,
          );
        for (const target of this.targets(expression)) this.follow(target, [...path, name]);
      }
    }
  }

  private targets(expression: Expression): readonly string[] {
    if (expression.kind === 'verdict')
      return expression.verdict.chain === undefined ? [] : [expression.verdict.chain];
    if (expression.kind !== 'lookup' || expression.to !== 'verdict') return [];
    const values = [...this.table.sets.get(expression.set)!.elements.values()];
    return values.flatMap(({ value }) => verdictTarget(value) ?? []);
  }
}

function isAllowed({ kind }: Expression, { type, hook }: Hook): boolean {
  switch (kind) {
    case 'nat':
      return type === 'nat' && (hook === 'prerouting' || hook === 'output');
    case 'masquerade':
      return type === 'nat' && hook === 'postrouting';
    case 'reject':
      return hook !== 'postrouting';
    default:
      return true;
  }
}
