import { parseAddress } from '../../../src/domain/net/address.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  formatPriority,
  parsePriority,
  type Key,
  type KeyField,
  type Rule,
  type Statement,
  type DataType,
  type Hook,
  type SetDefinition,
  type SetElement,
} from '../../../src/domain/nftables/layout/table.js';
import type { TableContents } from '../nftables/table-contents.js';

/** A refusal by the kernel. `code` is its name for the error. */
export class KernelRefusal extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
    readonly element?: number,
  ) {
    super(`${code}: ${detail}`);
    this.name = 'KernelRefusal';
  }

  atElement(index: number): KernelRefusal {
    return new KernelRefusal(this.code, this.detail, index);
  }
}

const TYPES: Readonly<Record<KeyField['field'], DataType>> = {
  saddr: 'address',
  daddr: 'address',
  l4proto: 'protocol',
  sport: 'port',
  dport: 'port',
  priority: 'priority',
  draw: 'slot',
};

/** The chain that a verdict leads to. */
export function verdictTarget(verdict: string | undefined): string | undefined {
  return /^(?:goto|jump) (.+)$/.exec(verdict ?? '')?.[1];
}

/** Chains and sets that the rule names must exist, and sets must have the types that it looks up. */
export function checkRule({ statements }: Rule, table: TableContents): void {
  for (const statement of statements) {
    switch (statement.kind) {
      case 'jump':
      case 'goto':
        if (!table.chains.has(statement.chain)) throw new KernelRefusal('ENOENT', `chain ${statement.chain}`);
        break;
      case 'count':
        if (!table.counters.has(statement.counter))
          throw new KernelRefusal('ENOENT', `counter ${statement.counter}`);
        break;
      case 'member':
        checkLookup(table, statement.set, statement.key);
        break;
      case 'remember':
        if (checkLookup(table, statement.set, statement.key).dynamicSize === undefined)
          throw new KernelRefusal('EOPNOTSUPP', `set ${statement.set} is not dynamic`);
        break;
      case 'verdict-map':
        checkLookup(table, statement.map, statement.key, 'verdict');
        break;
      case 'dnat':
        checkLookup(table, statement.map, statement.key, ['address', 'port']);
        break;
      case 'set-priority':
        if (typeof statement.to === 'object' && 'map' in statement.to)
          checkLookup(table, statement.to.map, statement.to.key, ['priority']);
        break;
    }
  }
}

function checkLookup(
  table: TableContents,
  name: string,
  key: Key,
  value?: SetDefinition['value'],
): SetDefinition {
  const contents = table.sets.get(name);
  if (!contents) throw new KernelRefusal('ENOENT', `set ${name}`);
  const types = key.map(({ field }) => TYPES[field]);
  const { set } = contents;
  if (JSON.stringify([types, value]) !== JSON.stringify([set.key, set.value]))
    throw new KernelRefusal('EINVAL', `set ${name} has other types than the lookup`);
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
  if (!valid) throw new KernelRefusal('EINVAL', `${set.name} cannot hold ${JSON.stringify({ key, value })}`);
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
    if (path.includes(name)) throw new KernelRefusal('ELOOP', [...path, name].join(' → '));
    if (path.length >= MAX_DEPTH) throw new KernelRefusal('EMLINK', `${path.join(' → ')} is too deep`);
    if (this.seen.has(`${path.length} ${name}`)) return;
    this.seen.add(`${path.length} ${name}`);
    for (const { statements } of this.table.chains.get(name)!.rules) {
      for (const statement of statements) {
        if (!isAllowed(statement, this.hook))
          throw new KernelRefusal(
            'EOPNOTSUPP',
            `${statement.kind} in chain ${name}, reached from ${path[0]}`,
          );
        for (const target of this.targets(statement)) this.follow(target, [...path, name]);
      }
    }
  }

  private targets(statement: Statement): readonly string[] {
    if (statement.kind === 'jump' || statement.kind === 'goto') return [statement.chain];
    if (statement.kind !== 'verdict-map') return [];
    const values = [...this.table.sets.get(statement.map)!.elements.values()];
    return values.flatMap(({ value }) => verdictTarget(value) ?? []);
  }
}

function isAllowed({ kind }: Statement, { type, hook }: Hook): boolean {
  switch (kind) {
    case 'dnat':
      return type === 'nat' && (hook === 'prerouting' || hook === 'output');
    case 'masquerade':
      return type === 'nat' && hook === 'postrouting';
    case 'reject':
      return hook !== 'postrouting';
    default:
      return true;
  }
}
