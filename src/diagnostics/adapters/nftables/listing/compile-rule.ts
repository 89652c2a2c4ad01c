import type { CompareOperator, Expression } from '../../../../domain/nftables/kernel/ruleset.js';
import { padded, verdictOf } from './compile-set.js';
import { bounds, encoded, isBitmask, LENGTHS, type DataType } from './encode-value.js';
import { held, kindOf, type ListedRule, type ListedTable, type Statement, type Value } from './listing.js';
import { ValueLoader, type KnownSets } from './load-value.js';

/** The expressions of a rule, as the kernel would list them. What is not understood becomes `unknown`. */
export function compileRule(
  { statements }: ListedRule,
  table: ListedTable,
  sets: KnownSets,
): readonly Expression[] {
  return statements.flatMap((statement) => {
    const compiled = new StatementCompiler(table.family, sets).compile(statement);
    return compiled ?? [{ kind: 'unknown', name: JSON.stringify(statement) } as const];
  });
}

const NOTHING: ReadonlySet<string> = new Set(['counter', 'log', 'comment']);

class StatementCompiler extends ValueLoader {
  compile(statement: Statement): readonly Expression[] | undefined {
    const kind = kindOf(statement) ?? '';
    const verdict = verdictOf(statement);
    if (verdict) return [{ kind: 'verdict', verdict }];
    if (NOTHING.has(kind)) return [{ kind: 'indifferent', name: kind }];
    const compiled = this.statement(kind, statement[kind]);
    return compiled && [...this.before, ...compiled];
  }

  private statement(kind: string, content: unknown): readonly Expression[] | undefined {
    const fields = (content ?? {}) as Readonly<Record<string, Value>>;
    switch (kind) {
      case 'match':
        return this.match(fields);
      case 'vmap': {
        const types = this.load(fields.key, 0);
        const set = types && this.setOf(fields.data, types, 'verdict');
        return set === undefined
          ? undefined
          : [{ kind: 'lookup', set, from: 0, to: 'verdict', inverted: false }];
      }
      case 'mangle':
        return this.mangle(fields);
      case 'dnat':
      case 'snat':
        return this.translation(kind, fields);
      case 'masquerade':
        return [{ kind: 'masquerade', fullyRandom: JSON.stringify(fields).includes('fully-random') }];
      case 'reject':
        return [{ kind: 'reject' }];
      case 'limit':
        return [{ kind: 'limit', inverted: fields.inv === true }];
      case 'set':
        return this.remember(fields);
      default:
        return undefined;
    }
  }

  private match({ op, left, right }: Readonly<Record<string, Value>>): readonly Expression[] | undefined {
    const types = this.load(left, 0);
    if (!types) return undefined;
    const inverted = op === '!=';
    const list = held<readonly Value[]>(right, 'set');
    if (list || (typeof right === 'string' && right.startsWith('@'))) {
      const set = this.setOf(right, types, undefined);
      return set === undefined ? undefined : [{ kind: 'lookup', set, from: 0, inverted }];
    }
    const [type] = types;
    if (types.length !== 1 || !type) return undefined;
    const limits = bounds(right, type);
    if (limits) return [{ kind: 'range', from: 0, inverted, first: limits[0], last: limits[1] }];
    const value = encoded(right, type);
    if (!value) return undefined;
    if (isBitmask(type) && (op === 'in' || Array.isArray(right)))
      return [
        { kind: 'bitwise', from: 0, to: 0, mask: value, xor: new Uint8Array(4) },
        { kind: 'cmp', from: 0, op: '!=', value: new Uint8Array(4) },
      ];
    return [{ kind: 'cmp', from: 0, op: op === 'in' ? '==' : (op as CompareOperator), value }];
  }

  private mangle({ key, value }: Readonly<Record<string, Value>>): readonly Expression[] | undefined {
    if (held<{ readonly key: string }>(key, 'meta')?.key !== 'mark') return undefined;
    const types = this.load(value, 0) ?? this.constant(value, 'mark');
    return types?.length === 1 ? [{ kind: 'meta-set', from: 0, key: 'mark' }] : undefined;
  }

  private translation(
    type: 'dnat' | 'snat',
    { addr, port }: Readonly<Record<string, Value>>,
  ): readonly Expression[] | undefined {
    const address = this.family === 'ip6' || String(addr).includes(':') ? 'ipv6_addr' : 'ipv4_addr';
    const portAt = padded(LENGTHS[address]);
    if (kindOf(addr) === undefined) {
      if (addr !== undefined && !this.constant(addr, address)) return undefined;
      const number = port === undefined ? undefined : encoded(port, 'inet_service');
      if (port !== undefined && !number) return undefined;
      if (number) this.before.push({ kind: 'immediate', to: portAt, value: number });
      return [
        {
          kind: 'nat',
          type,
          ...(addr !== undefined && { address: 0 }),
          ...(number && { port: portAt }),
        },
      ];
    }
    const types = port === undefined ? this.load(addr, 0, [address, 'inet_service']) : undefined;
    if (!types) return undefined;
    return [{ kind: 'nat', type, address: 0, ...(types.length > 1 && { port: portAt }) }];
  }

  private remember({
    op,
    elem,
    set: name,
  }: Readonly<Record<string, Value>>): readonly Expression[] | undefined {
    const timed = held<{ readonly val: Value; readonly timeout?: number }>(elem, 'elem');
    const set = String(name).replace(/^@/, '');
    if (op === 'delete' || !this.load(timed?.val ?? elem, 0) || !this.sets.typesOf(set)) return undefined;
    const timeoutSeconds = timed?.timeout ?? this.sets.timeoutOf(set);
    return [{ kind: 'remember', set, from: 0, timeoutSeconds }];
  }

  private constant(value: Value, type: DataType): readonly DataType[] | undefined {
    const bytes = encoded(value, type);
    if (bytes) this.before.push({ kind: 'immediate', to: 0, value: bytes });
    return bytes && [type];
  }
}
