import { withStep, type Watch } from '../walk/packet-state.js';
import {
  accepted,
  dropped,
  marked,
  nextRule,
  rejected,
  sent,
  sourceRewritten,
  uncertain,
  type RuleResult,
} from '../walk/chain-walk.js';
import { hex, readHostWord, readNetworkHalf, addressText } from '../../../domain/nftables/kernel/bytes.js';
import { draw, hashed, hashesPort, isDrawn, joined, MAX_BRANCHES } from './draws.js';
import type { FindElement } from './elements.js';
import {
  isEffective,
  type Expression,
  type KernelVerdict,
  type KernelElement,
} from '../../../domain/nftables/kernel/ruleset.js';
import {
  clearRest,
  isOurs,
  load,
  type KernelPacketState,
  readdressed,
  addressType,
  compares,
  ctValue,
  metaValue,
  type Devices,
} from './kernel-packet-state.js';
import type { ListedChains, ListedRule } from './listed-rule.js';
import type { SourceWatch } from './source-watch.js';

type KernelResult = RuleResult<KernelPacketState, ListedRule>;

/** A packet state continues with the next expression. A rule result leads elsewhere. */
type Evaluated = KernelPacketState | KernelResult | 'no match';

/** A walk that is watched. */
export interface Watching {
  readonly watch: Watch;
  readonly source: SourceWatch;
}

/** Evaluates rules, expression by expression, as the kernel does. */
export class RuleRun {
  constructor(
    private readonly chains: ListedChains,
    private readonly find: FindElement,
    private readonly devices: Devices,
    private readonly isLocal: (address: string) => boolean,
    private readonly watching?: Watching,
  ) {}

  /** Where the rule leads: several results where it draws a random number, none where it does not match. */
  meet(rule: ListedRule, state: KernelPacketState): readonly KernelResult[] | undefined {
    state.registers.fill(0);
    return this.from(0, rule, state);
  }

  private from(
    start: number,
    rule: ListedRule,
    first: KernelPacketState,
  ): readonly KernelResult[] | undefined {
    const { expressions } = rule;
    const { watching } = this;
    const comparisons = watching?.source.comparisonsOf(rule);
    let state = first;
    for (let index = start; index < expressions.length; index++) {
      const expression = expressions[index]!;
      comparisons?.[index]?.(watching!.watch, state.registers);
      if (isDrawn(expression, expressions) && expression.modulus <= MAX_BRANCHES)
        return joined(
          draw(expression, state, rule).flatMap(
            (drawn) => this.from(index + 1, rule, drawn) ?? [nextRule(drawn)],
          ),
          expression,
          rule,
        );
      const evaluated = this.evaluate(expression, state, rule);
      if (!evaluated) return [notUnderstood(expressions.slice(index), state)];
      if (evaluated === 'no match') return state === first ? undefined : [nextRule(state)];
      if ('to' in evaluated) return [evaluated];
      state = evaluated;
    }
    return state === first ? undefined : [nextRule(state)];
  }

  /** Undefined if it is not known what the expression does. */
  private evaluate(
    expression: Expression,
    state: KernelPacketState,
    rule: ListedRule,
  ): Evaluated | undefined {
    switch (expression.kind) {
      case 'payload': {
        const { base, offset, length, to } = expression;
        const bytes = state.headers[base];
        return bytes.length < offset + length ? 'no match' : load(state, to, bytes, offset, length);
      }
      case 'meta': {
        const value = metaValue(expression.key, state, this.devices);
        return value && load(state, expression.to, value);
      }
      case 'meta-set':
        return setMeta(expression, state, rule);
      case 'ct':
        return load(state, expression.to, ctValue(expression.key, state));
      case 'fib':
        return load(state, expression.to, this.route(expression, state));
      case 'cmp': {
        const { from, op, value } = expression;
        return test(compares(state.registers, from, op, value), state);
      }
      case 'range': {
        const { from, first, last, inverted } = expression;
        const { registers } = state;
        const isWithin = compares(registers, from, '>=', first) && compares(registers, from, '<=', last);
        return test(isWithin !== inverted, state);
      }
      case 'bitwise': {
        const { from, to, mask, xor } = expression;
        const { registers } = state;
        for (let at = 0; at < mask.length; at++)
          registers[to + at] = (registers[from + at]! & mask[at]!) ^ xor[at]!;
        clearRest(registers, to, mask.length);
        return state;
      }
      case 'byteorder':
        return load(state, expression.to, swapped(expression, state));
      case 'lookup':
        return this.lookUp(expression, state, rule);
      case 'remember':
        return isOurs(rule.table) ? this.remembering(expression, state, rule) : state;
      case 'immediate':
        return load(state, expression.to, expression.value);
      case 'verdict':
        return this.verdict(expression.verdict, state, rule);
      case 'nat':
        return translate(expression, state);
      case 'masquerade':
        return sourceRewritten(state);
      case 'reject':
        return rejected(state, 'an error');
      case 'count':
      case 'indifferent':
        return state;
      case 'limit':
        return test(!expression.inverted, state);
      case 'hash':
        if (hashesPort(expression, rule.expressions)) return undefined;
        return load(state, expression.to, hashed(expression, state));
      case 'random':
      case 'unknown':
        return undefined;
    }
  }

  private verdict(
    { code, chain: name }: KernelVerdict,
    state: KernelPacketState,
    { table }: ListedRule,
  ): Evaluated {
    switch (code) {
      case 'accept':
        return accepted(state);
      case 'drop':
        return dropped(state);
      case 'return':
        return { state, to: 'caller' };
      case 'continue':
        return state;
      case 'queue':
        return uncertain(state, 'hands it to a program, which may do anything with it; assumed not to match');
      case 'jump':
      case 'goto': {
        const chain = this.chains.of(table, table.chains.get(name!)!);
        return { state, to: { verb: code, chain }, effect: `${code} ${name}` };
      }
    }
  }

  private remembering(
    { set: name, from, timeoutSeconds }: Extract<Expression, { kind: 'remember' }>,
    state: KernelPacketState,
    rule: ListedRule,
  ): KernelPacketState {
    const after = withStep(state.with({ isSticky: true }), rule, "remembers the client's endpoint");
    const set = rule.table.sets.get(name);
    if (!this.watching || !set) return after;
    this.watching.watch.affinity(timeoutSeconds || (set.timeoutSeconds ?? 0));
    const key = hex(state.registers.subarray(from, from + set.keyLength));
    return after.with({ memory: new Map([...(state.memory ?? []), [name, new Set([key])]]) });
  }

  private route(
    { field, result }: Extract<Expression, { kind: 'fib' }>,
    state: KernelPacketState,
  ): Uint8Array {
    const { family, source } = state.packet;
    // That packets of this source come in here is known from the routes, so there is a route back.
    if (result === 'exists') return Uint8Array.of(1);
    const address = field === 'saddr' ? source : state.destination;
    return addressType(address, family, this.isLocal(address));
  }

  private lookUp(
    { set: name, from, to, inverted }: Extract<Expression, { kind: 'lookup' }>,
    state: KernelPacketState,
    rule: ListedRule,
  ): Evaluated | undefined {
    const { table } = rule;
    const set = table.sets.get(name);
    if (!set) return undefined;
    const element = this.find(table, set, state.registers.slice(from, from + set.keyLength));
    if ((element !== undefined) === inverted) return 'no match';
    const found = element && isOurs(table) ? withServicePort(state, element) : state;
    if (to === undefined) return found;
    if (to === 'verdict')
      return element?.verdict ? this.verdict(element.verdict, found, rule) : nextRule(found);
    return element?.value && load(found, to, element.value);
  }
}

function test(matches: boolean, state: KernelPacketState): Evaluated {
  return matches ? state : 'no match';
}

/** Rules that decide nothing need not be understood. */
function notUnderstood([first, ...rest]: readonly Expression[], state: KernelPacketState): KernelResult {
  if (!rest.some(isEffective) && first!.kind !== 'unknown') return nextRule(state);
  const name = first!.kind === 'unknown' ? first!.name : first!.kind;
  return uncertain(state, `is not understood (${name}), and assumed not to match`);
}

function withServicePort(state: KernelPacketState, { comment }: KernelElement): KernelPacketState {
  return comment === undefined ? state : state.with({ servicePort: comment });
}

function setMeta(
  { key, from }: Extract<Expression, { kind: 'meta-set' }>,
  state: KernelPacketState,
  rule: ListedRule,
): KernelPacketState {
  const value = readHostWord(state.registers, from);
  if (key === 'priority') return state.with({ priority: value });
  const { state: after, effect } = marked(state, value);
  if (effect === undefined) return after;
  if (rule.foreign) return withStep(after, rule, effect);
  // Rules of ours mark what is to be masqueraded, and take the mark away before the packet leaves.
  return (value & ~state.mark) === 0 ? after : withStep(after, rule, 'marks it to be masqueraded');
}

function swapped(
  { from, length, size }: Extract<Expression, { kind: 'byteorder' }>,
  { registers }: KernelPacketState,
): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => registers[from + at - 2 * (at % size) + size - 1]!);
}

function translate(
  { type, address, port }: Extract<Expression, { kind: 'nat' }>,
  state: KernelPacketState,
): KernelResult {
  if (type === 'snat') return sourceRewritten(state);
  const { registers, headers } = state;
  const length = state.destination.includes(':') ? 16 : 4;
  const destination =
    address === undefined ? state.destination : addressText(registers.subarray(address, address + length));
  const newPort = port === undefined ? state.port : readNetworkHalf(registers, port);
  return sent(state.with({ headers: readdressed(headers, destination, newPort) }), destination, newPort);
}
