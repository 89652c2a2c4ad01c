import { isLoopback } from '../../net/address.js';
import type { Packet } from '../../trace/packet.js';
import type { TracedEnding } from '../../trace/traced-ending.js';
import { HookPath, type HookName } from '../../walk/hook-path.js';
import type { ElementStore } from './elements.js';
import type { KernelVerdict } from './expression.js';
import { withKernelStep, type KernelCourse, type KernelPlace } from './kernel-course.js';
import { headersOf } from './packet-bytes.js';
import type { Devices } from './register-values.js';
import { RuleRun } from './rule-run.js';
import { ruleText } from './rule-text.js';
import type { KernelChain, KernelHook, KernelRule, KernelRuleset, KernelTable } from './ruleset.js';

/** Where evaluation continues: at the next rule, after the current chain, or after all chains of this base chain. */
interface Turn {
  readonly course: KernelCourse;
  readonly to: 'rule' | 'caller' | 'end';
}

interface BaseChain {
  readonly table: KernelTable;
  readonly chain: KernelChain & { readonly hook: KernelHook };
}

/** The kernel translates at these priorities, whatever the chains say (NF_IP_PRI_NAT_DST, NF_IP_PRI_NAT_SRC). */
const NAT_PRIORITY: Readonly<Record<HookName, number>> = {
  prerouting: -100,
  output: -100,
  forward: 0,
  input: 100,
  postrouting: 100,
};

/** Sends a packet through all chains of nf_tables, and returns every possible ending. */
export class RulesetWalk {
  private readonly rules: RuleRun;
  private readonly texts = new Map<KernelRule, string>();

  constructor(
    private readonly ruleset: KernelRuleset,
    private readonly packet: Packet,
    private readonly localAddresses: ReadonlySet<string>,
    elements: ElementStore,
    devices: Devices,
  ) {
    this.rules = new RuleRun(packet, elements, devices, (address) => this.isLocal(address));
  }

  endings(): readonly TracedEnding[] {
    const { packet } = this;
    const start: KernelCourse = {
      headers: headersOf(packet),
      destination: packet.destination,
      port: packet.destinationPort,
      inputInterface: packet.inputInterface ?? '',
      registers: Buffer.alloc(0),
      mark: 0,
      priority: 0,
      translated: false,
      masquerade: false,
      verdict: undefined,
      sticky: false,
      probability: 1,
      steps: [],
    };
    const path = new HookPath<KernelCourse>(
      (hook, course, translates) => this.atHook(hook, course, translates),
      (address) => this.isLocal(address),
    );
    const courses = packet.inputInterface === undefined ? path.leave(start) : path.arrive(start);
    return courses.map(endingOf);
  }

  private isLocal(text: string): boolean {
    return this.localAddresses.has(text) || isLoopback({ family: this.packet.family, text });
  }

  private atHook(hook: HookName, start: KernelCourse, translates: boolean): readonly KernelCourse[] {
    let courses: readonly KernelCourse[] = [start];
    for (const base of this.baseChains(hook)) {
      const isNat = base.chain.hook.type === 'nat';
      if (isNat && !translates) continue;
      courses = courses.flatMap((course) =>
        course.verdict || (isNat && isTranslated(course, hook)) ? [course] : this.base(base, hook, course),
      );
    }
    return courses;
  }

  private *baseChains(hook: HookName): Iterable<BaseChain> {
    const found: BaseChain[] = [];
    for (const table of this.ruleset.tables)
      for (const chain of table.chains.values())
        if (chain.hook?.hook === hook) found.push({ table, chain: { ...chain, hook: chain.hook } });
    const priority = ({ chain }: BaseChain): number =>
      chain.hook.type === 'nat' ? NAT_PRIORITY[hook] : chain.hook.priority;
    // The kernel puts a hook before those of the same priority that were there already.
    yield* found.sort(
      (one, other) =>
        priority(one) - priority(other) ||
        one.chain.hook.priority - other.chain.hook.priority ||
        other.table.number - one.table.number ||
        other.chain.number - one.chain.number,
    );
  }

  private base({ table, chain }: BaseChain, hook: HookName, course: KernelCourse): readonly KernelCourse[] {
    return this.chain(table, chain, hook, course, 0).map((turn) => {
      if (turn.to === 'end' || chain.hook.policy === 'accept') return turn.course;
      const place = { hook, table, chain: chain.name, text: () => 'policy drop', depth: 0 };
      return withKernelStep({ ...turn.course, verdict: 'dropped' }, place, 'drops it');
    });
  }

  private chain(
    table: KernelTable,
    chain: KernelChain,
    hook: HookName,
    start: KernelCourse,
    depth: number,
  ): readonly Turn[] {
    const ended: Turn[] = [];
    let courses: readonly KernelCourse[] = [start];
    for (const rule of chain.rules) {
      const place = { hook, table, chain: chain.name, text: () => this.text(rule), depth };
      const next: KernelCourse[] = [];
      for (const turn of courses.flatMap((course) => this.rule(rule, course, place))) {
        if (turn.to === 'rule') next.push(turn.course);
        else ended.push(turn);
      }
      courses = next;
      if (courses.length === 0) break;
    }
    return [...ended, ...courses.map((course): Turn => ({ course, to: 'caller' }))];
  }

  private rule({ expressions }: KernelRule, course: KernelCourse, place: KernelPlace): readonly Turn[] {
    return this.rules
      .evaluate(expressions, course, place)
      .flatMap(({ course: after, to }) =>
        typeof to === 'object'
          ? this.verdict(to, after, place)
          : [{ course: after, to: to === 'end' ? ('end' as const) : ('rule' as const) }],
      );
  }

  private verdict({ code, chain }: KernelVerdict, course: KernelCourse, place: KernelPlace): readonly Turn[] {
    switch (code) {
      case 'accept':
        return [{ course: withKernelStep(course, place, 'accepts it'), to: 'end' }];
      case 'drop':
        return [{ course: withKernelStep({ ...course, verdict: 'dropped' }, place, 'drops it'), to: 'end' }];
      case 'return':
        return [{ course, to: 'caller' }];
      case 'continue':
        return [{ course, to: 'rule' }];
      case 'queue': {
        const effect = 'hands it to a program, which may do anything with it; taken as if it did not match';
        return [{ course: withKernelStep(course, place, effect, { isUncertain: true }), to: 'rule' }];
      }
      case 'jump':
      case 'goto':
        return this.jump(code, place.table.chains.get(chain!)!, course, place);
    }
  }

  private jump(
    code: 'jump' | 'goto',
    chain: KernelChain,
    course: KernelCourse,
    { table, hook, depth, ...place }: KernelPlace,
  ): readonly Turn[] {
    const jumped = withKernelStep(course, { table, hook, depth, ...place }, `${code} ${chain.name}`);
    return this.chain(table, chain, hook, jumped, depth + 1).map((turn) => {
      // A jump that led to nothing is no step.
      const { steps } = turn.course.steps.length === jumped.steps.length ? course : turn.course;
      const to = code === 'jump' && turn.to === 'caller' ? 'rule' : turn.to;
      return { course: { ...turn.course, steps }, to };
    });
  }

  private text(rule: KernelRule): string {
    let text = this.texts.get(rule);
    if (text === undefined) this.texts.set(rule, (text = ruleText(rule, this.packet.family)));
    return text;
  }
}

/** The kernel translates each end of a connection once. */
function isTranslated({ translated, masquerade }: KernelCourse, hook: HookName): boolean {
  return hook === 'prerouting' || hook === 'output' ? translated : masquerade;
}

function endingOf(course: KernelCourse): TracedEnding {
  const { verdict, translated, destination, port, probability, masquerade, sticky, steps } = course;
  const carried = { probability, masquerade, sticky, steps };
  if (verdict) return { verdict, ...carried };
  return translated
    ? { verdict: 'sent', endpoint: { address: destination, port }, ...carried }
    : { verdict: 'untouched', ...carried };
}
