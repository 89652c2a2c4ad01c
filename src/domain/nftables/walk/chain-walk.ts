import type { Protocol } from '../../model/service-port-name.js';
import { maskAddress } from '../../net/cidr.js';
import type { IpFamily } from '../../net/ip-family.js';
import type { Ending } from './ending.js';
import type { PacketEnvironment } from '../../trace/packet.js';
import { formatPriority, parsePriority } from '../layout/priority.js';
import type { Key, KeyField, Statement } from '../layout/rule.js';
import type { SetContents, TableContents } from '../text/table-contents.js';

/** A packet in flight: what the rules have changed so far. */
export interface Course {
  readonly source: string;
  readonly destination: string;
  readonly port: number;
  readonly protocol: Protocol;
  /** Empty if there is none. */
  readonly inputInterface: string;
  readonly mark: number;
  readonly priority: number;
  readonly translated: boolean;
  readonly masquerade: boolean;
  readonly verdict: 'refused' | 'dropped' | undefined;
  readonly remembers: Ending['remembers'];
}

/** The table cannot be walked: a rule or element names something that does not exist, or that no kernel would accept. */
export class MalformedTable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedTable';
  }
}

/** Where evaluation continues: at the next statement, the next rule, after the current chain, or (accepted) after all chains. */
interface Step {
  readonly course: Course;
  readonly to: 'statement' | 'rule' | 'caller' | 'end';
}

/** The kernel refuses rules that jump deeper than this (NFT_JUMP_STACK_SIZE). */
const MAX_DEPTH = 16;

/** Evaluates chains. One course becomes several where a rule picks a random number. */
export class ChainWalk {
  constructor(
    private readonly table: TableContents,
    private readonly family: IpFamily,
    private readonly environment: PacketEnvironment,
    private readonly isLocal: (address: string) => boolean,
  ) {}

  /** What happens to a packet in a base chain. Its policy is accept. */
  base(chain: string, course: Course): readonly Course[] {
    return this.chain(chain, course, 0).map((step) => step.course);
  }

  private chain(name: string, start: Course, depth: number): readonly Step[] {
    const chain = this.table.chains.get(name);
    if (!chain) throw new MalformedTable(`chain ${name} does not exist`);
    if (depth > MAX_DEPTH) throw new MalformedTable(`chain ${name} is reached by too many jumps`);
    const ended: Step[] = [];
    let courses: readonly Course[] = [start];
    for (const { statements } of chain.rules) {
      const next: Course[] = [];
      for (const step of courses.flatMap((course) => this.rule(statements, course, depth))) {
        if (step.to === 'caller' || step.to === 'end') ended.push(step);
        else next.push(step.course);
      }
      courses = next;
      if (courses.length === 0) break;
    }
    return [...ended, ...courses.map((course): Step => ({ course, to: 'caller' }))];
  }

  private rule(statements: readonly Statement[], course: Course, depth: number): readonly Step[] {
    const [statement, ...rest] = statements;
    if (!statement) return [{ course, to: 'rule' }];
    return this.statement(statement, course, depth).flatMap((step) =>
      step.to === 'statement' ? this.rule(rest, step.course, depth) : [step],
    );
  }

  private statement(statement: Statement, course: Course, depth: number): readonly Step[] {
    switch (statement.kind) {
      case 'address': {
        const address = statement.field === 'saddr' ? course.source : course.destination;
        return goOn(inNetwork(address, statement.network) === (statement.is === '=='), course);
      }
      case 'input-interface': {
        const { name, wildcard, is } = statement;
        const matches = wildcard ? course.inputInterface.startsWith(name) : course.inputInterface === name;
        return goOn(matches === (is === '=='), course);
      }
      case 'dport':
        return goOn((course.port === statement.port) === (statement.is === '=='), course);
      case 'local-address':
        return goOn(this.isLocal(statement.field === 'saddr' ? course.source : course.destination), course);
      case 'new-connection':
        return goOn(true, course);
      case 'translated':
        return goOn(course.translated, course);
      case 'member':
        return goOn(
          this.isMember(statement.set, keyOf(statement.key, course)) === (statement.is === '=='),
          course,
        );
      case 'verdict-map':
        return this.verdict(this.lookUp(statement.map, keyOf(statement.key, course)), course, depth);
      case 'set-priority':
        return this.priorities(statement.to, course).map((priority) =>
          priority === undefined
            ? { course, to: 'rule' }
            : { course: { ...course, priority }, to: 'statement' },
        );
      case 'priority-at-least':
        return goOn(course.priority >= statement.value, course);
      case 'mark-has':
        return goOn(((course.mark >>> statement.bit) & 1) === 1, course);
      case 'mark-set':
        return goOn(true, { ...course, mark: (course.mark | (1 << statement.bit)) >>> 0 });
      case 'mark-flip':
        return goOn(true, { ...course, mark: (course.mark ^ (1 << statement.bit)) >>> 0 });
      case 'remember':
        return goOn(true, {
          ...course,
          remembers: [...course.remembers, { set: statement.set, key: keyOf(statement.key, course) }],
        });
      case 'dnat':
        return [this.translate(this.lookUp(statement.map, keyOf(statement.key, course)), course)];
      case 'masquerade':
        return [{ course: { ...course, masquerade: true }, to: 'end' }];
      case 'reject':
        return [{ course: { ...course, verdict: 'refused' }, to: 'end' }];
      case 'drop':
      case 'return':
        return this.verdict(statement.kind, course, depth);
      case 'jump':
      case 'goto':
        return this.verdict(`${statement.kind} ${statement.chain}`, course, depth);
    }
  }

  /** Applies a verdict by its text; a key that the map does not have ends the rule. */
  private verdict(text: string | undefined, course: Course, depth: number): readonly Step[] {
    if (text === undefined) return [{ course, to: 'rule' }];
    if (text === 'drop') return [{ course: { ...course, verdict: 'dropped' }, to: 'end' }];
    if (text === 'return') return [{ course, to: 'caller' }];
    if (text === 'accept') return [{ course, to: 'end' }];
    const [verb, chain = ''] = text.split(' ');
    const steps = this.chain(chain, course, depth + 1);
    if (verb === 'goto') return steps;
    return steps.map((step) => (step.to === 'caller' ? { ...step, to: 'rule' } : step));
  }

  private translate(value: string | undefined, course: Course): Step {
    if (value === undefined) return { course, to: 'rule' };
    const [destination, port] = value.split(' . ') as [string, string];
    return { course: { ...course, destination, port: Number(port), translated: true }, to: 'end' };
  }

  /** The values that may be set; undefined if the map has none for the key. */
  private priorities(
    to: Extract<Statement, { kind: 'set-priority' }>['to'],
    course: Course,
  ): readonly (number | undefined)[] {
    if (to === 'none') return [0];
    if ('modulus' in to) return Array.from({ length: to.modulus }, (_, number) => to.offset + number);
    const value = this.lookUp(to.map, keyOf(to.key, course));
    return [value === undefined ? undefined : parsePriority(value)];
  }

  private lookUp(map: string, key: string): string | undefined {
    return this.contents(map).elements.get(key)?.value;
  }

  private isMember(name: string, key: string): boolean {
    const { set, elements } = this.contents(name);
    return set.dynamicSize === undefined
      ? elements.has(key)
      : this.environment.remembered?.get(name)?.has(key) === true;
  }

  private contents(name: string): SetContents {
    const contents = this.table.sets.get(name);
    if (!contents) throw new MalformedTable(`set ${name} of the table ${this.family} does not exist`);
    return contents;
  }
}

function goOn(matches: boolean, course: Course): readonly Step[] {
  return [{ course, to: matches ? 'statement' : 'rule' }];
}

function keyOf(key: Key, course: Course): string {
  return key.map((field) => component(field, course)).join(' . ');
}

function component(field: KeyField, course: Course): string {
  switch (field.field) {
    case 'saddr':
      return field.prefixLength === undefined
        ? course.source
        : maskAddress(course.source, field.prefixLength);
    case 'daddr':
      return course.destination;
    case 'l4proto':
      return course.protocol.toLowerCase();
    case 'dport':
      return String(course.port);
    case 'priority':
      return formatPriority(course.priority);
  }
}

function inNetwork(address: string, network: string): boolean {
  const [first, length] = network.split('/') as [string, string?];
  return length === undefined ? address === first : maskAddress(address, Number(length)) === first;
}
