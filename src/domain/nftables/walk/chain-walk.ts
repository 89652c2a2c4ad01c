import { hostPort } from '../../net/address.js';
import { maskAddress } from '../../net/cidr.js';
import type { IpFamily } from '../../net/ip-family.js';
import type { PacketEnvironment } from '../../trace/packet.js';
import { formatPriority, parsePriority } from '../layout/priority.js';
import type { Key, KeyField, Rule, Statement } from '../layout/rule.js';
import { nftFamily, TABLE_NAME, type SetElement } from '../layout/table.js';
import { renderRule } from '../text/render-text.js';
import type { SetContents, TableContents } from '../text/table-contents.js';
import { withStep, type Course, type Place } from './course.js';

/** The table cannot be walked: a rule or element names something that does not exist, or that no kernel would accept. */
export class MalformedTable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MalformedTable';
  }
}

/** Where evaluation continues: at the next statement, the next rule, after the current chain, or (accepted) after all chains. */
interface Turn {
  readonly course: Course;
  readonly to: 'statement' | 'rule' | 'caller' | 'end';
}

/** The kernel refuses rules that jump deeper than this (NFT_JUMP_STACK_SIZE). */
const MAX_DEPTH = 16;

/** Evaluates chains. One course becomes several where a rule picks a random number. */
export class ChainWalk {
  private readonly texts = new Map<Rule, string>();

  constructor(
    private readonly table: TableContents,
    private readonly family: IpFamily,
    private readonly environment: PacketEnvironment,
    private readonly isLocal: (address: string) => boolean,
  ) {}

  /** What happens to a packet in a base chain at a hook. Its policy is accept. */
  base(chain: string, hook: string, course: Course): readonly Course[] {
    return this.chain(chain, hook, course, 0).map((turn) => turn.course);
  }

  private chain(name: string, hook: string, start: Course, depth: number): readonly Turn[] {
    const chain = this.table.chains.get(name);
    if (!chain) throw new MalformedTable(`chain ${name} does not exist`);
    if (depth > MAX_DEPTH) throw new MalformedTable(`chain ${name} is reached by too many jumps`);
    const where = `${nftFamily(this.family)} ${TABLE_NAME} ${name}`;
    const ended: Turn[] = [];
    let courses: readonly Course[] = [start];
    for (const rule of chain.rules) {
      const place: Place = { hook, where, text: () => this.text(rule), depth };
      const next: Course[] = [];
      for (const turn of courses.flatMap((course) => this.rule(rule.statements, course, place))) {
        if (turn.to === 'caller' || turn.to === 'end') ended.push(turn);
        else next.push(turn.course);
      }
      courses = next;
      if (courses.length === 0) break;
    }
    return [...ended, ...courses.map((course): Turn => ({ course, to: 'caller' }))];
  }

  private text(rule: Rule): string {
    let text = this.texts.get(rule);
    if (text === undefined) this.texts.set(rule, (text = renderRule(this.family, rule)));
    return text;
  }

  private rule(statements: readonly Statement[], course: Course, place: Place): readonly Turn[] {
    const [statement, ...rest] = statements;
    if (!statement) return [{ course, to: 'rule' }];
    return this.statement(statement, course, place).flatMap((turn) =>
      turn.to === 'statement' ? this.rule(rest, turn.course, place) : [turn],
    );
  }

  private statement(statement: Statement, course: Course, place: Place): readonly Turn[] {
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
        return goOn(course.isTranslated, course);
      case 'member':
        return this.member(statement, course);
      case 'verdict-map': {
        const { value } = this.lookUp(statement.map, keyOf(statement.key, course)) ?? {};
        return this.verdict(value, course, place);
      }
      case 'set-priority':
        return this.setPriority(statement.to, course, place);
      case 'priority-at-least':
        return goOn(course.priority >= statement.value, course);
      case 'mark-has':
        return goOn(((course.mark >>> statement.bit) & 1) === 1, course);
      case 'mark-set': {
        const marked = { ...course, mark: (course.mark | (1 << statement.bit)) >>> 0 };
        return goOn(true, withStep(marked, place, 'marks it to be masqueraded'));
      }
      case 'mark-flip':
        return goOn(true, { ...course, mark: (course.mark ^ (1 << statement.bit)) >>> 0 });
      case 'remember': {
        const added = { set: statement.set, key: keyOf(statement.key, course) };
        const remembering = { ...course, remembers: [...course.remembers, added] };
        const effect = `remembers the client's endpoint for ${statement.timeoutSeconds} s`;
        return goOn(true, withStep(remembering, place, effect));
      }
      case 'dnat': {
        const { value } = this.lookUp(statement.map, keyOf(statement.key, course)) ?? {};
        return [translate(value, course, place)];
      }
      case 'masquerade':
        return end(
          { ...course, isMasqueraded: true },
          place,
          'rewrites the source to an address of this node',
        );
      case 'reject':
        return end({ ...course, verdict: 'refused' }, place, 'answers with an ICMP error');
      case 'drop':
      case 'return':
        return this.verdict(statement.kind, course, place);
      case 'jump':
      case 'goto':
        return this.verdict(`${statement.kind} ${statement.chain}`, course, place);
    }
  }

  private member({ set, key, is }: Extract<Statement, { kind: 'member' }>, course: Course): readonly Turn[] {
    const text = keyOf(key, course);
    const servicePort = this.contents(set).elements.get(text)?.comment;
    const isMember = this.isMember(set, text);
    return goOn(isMember === (is === '=='), servicePort === undefined ? course : { ...course, servicePort });
  }

  /** Applies a verdict by its text; a key that the map does not have ends the rule. */
  private verdict(text: string | undefined, course: Course, place: Place): readonly Turn[] {
    if (text === undefined) return [{ course, to: 'rule' }];
    if (text === 'drop') return end({ ...course, verdict: 'dropped' }, place, 'drops it');
    if (text === 'return') return [{ course, to: 'caller' }];
    if (text === 'accept') return [{ course, to: 'end' }];
    const [verb, chain = ''] = text.split(' ');
    const jumped = withStep(course, place, text);
    const turns = this.chain(chain, place.hook, jumped, place.depth + 1);
    return turns.map((turn) => {
      // A jump that led to nothing is no step.
      const { steps } = turn.course.steps.length === jumped.steps.length ? course : turn.course;
      const to = verb === 'jump' && turn.to === 'caller' ? 'rule' : turn.to;
      return { course: { ...turn.course, steps }, to };
    });
  }

  /** One course for each value that may be set. A key that the map does not have ends the rule. */
  private setPriority(
    to: Extract<Statement, { kind: 'set-priority' }>['to'],
    course: Course,
    place: Place,
  ): readonly Turn[] {
    if (to === 'none') return goOn(true, { ...course, priority: 0 });
    if ('map' in to) {
      const { value, comment: servicePort } = this.lookUp(to.map, keyOf(to.key, course)) ?? {};
      if (value === undefined) return [{ course, to: 'rule' }];
      const priority = parsePriority(value);
      return goOn(true, { ...course, priority, ...(servicePort !== undefined && { servicePort }) });
    }
    const { modulus, offset } = to;
    if (modulus === 1) return goOn(true, { ...course, priority: offset });
    const probability = course.probability / modulus;
    return Array.from({ length: modulus }, (_, number) => {
      const drawn = { ...course, priority: offset + number, probability };
      return { course: withStep(drawn, place, `draws ${number + 1} of ${modulus}`), to: 'statement' };
    });
  }

  private lookUp(map: string, key: string): SetElement | undefined {
    return this.contents(map).elements.get(key);
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

function goOn(matches: boolean, course: Course): readonly Turn[] {
  return [{ course, to: matches ? 'statement' : 'rule' }];
}

function end(course: Course, place: Place, effect: string): readonly Turn[] {
  return [{ course: withStep(course, place, effect), to: 'end' }];
}

function translate(value: string | undefined, course: Course, place: Place): Turn {
  if (value === undefined) return { course, to: 'rule' };
  const [destination, port] = value.split(' . ') as [string, string];
  const translated = { ...course, destination, port: Number(port), isTranslated: true };
  const effect = `sends it to ${hostPort(destination, Number(port))}`;
  return { course: withStep(translated, place, effect), to: 'end' };
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
