import type { Packet } from '../../../../src/diagnostics/domain/trace/trace.js';
import {
  ChainWalk,
  accepted,
  dropped,
  marked,
  nextRule,
  sent,
  type RuleResult,
} from '../../../../src/diagnostics/domain/walk/chain-walk.js';
import {
  PacketState,
  verdictOf,
  shareOf,
  initialState,
  withStep,
  type Place,
} from '../../../../src/diagnostics/domain/walk/packet-state.js';
import {
  HookPath,
  translating,
  type HookHandler,
} from '../../../../src/diagnostics/domain/walk/hook-path.js';
const packet: Packet = {
  family: 'IPv4',
  inputInterface: 'eth0',
  source: '192.0.2.9',
  destination: '10.96.0.10',
  protocol: 'TCP',
  destinationPort: 80,
};

interface Rule extends Place {
  readonly does: (state: PacketState) => readonly RuleResult<PacketState, Rule>[];
}

const rule = (name: string, does: Rule['does']): Rule => ({ where: 'chain', rule: name, does });
const chain = (...rules: readonly Rule[]) => ({ rules });
const jump = (verb: 'jump' | 'goto', ...rules: readonly Rule[]): Rule =>
  rule(verb, (state) => [{ state, to: { verb, chain: chain(...rules) }, effect: verb }]);
const returns = rule('return', (state) => [{ state, to: 'caller' }]);
const accepts = rule('accept', (state) => [accepted(state)]);
const drops = rule('drop', (state) => [dropped(state)]);
const marks = (mark: number): Rule => rule(`mark ${mark}`, (state) => [marked(state, mark)]);
const policy: Place = { where: 'chain', rule: 'policy' };

const walk = new ChainWalk<PacketState, Rule>(({ does }, state) => does(state));
const base = (rules: readonly Rule[], by?: Place) =>
  walk.base(chain(...rules), new PacketState(initialState(packet)), by);
const effects = ([state]: readonly PacketState[]) =>
  state!.steps.map((step) => `${step.rule}: ${step.effect}`);

describe('chains', () => {
  it.each([
    ['a jump, to the rule behind it', [jump('jump', returns, drops), accepts], 'accept: accepts it'],
    [
      'a goto, to the policy',
      [jump('goto', returns), accepts],
      'policy: drops it, as no rule decided otherwise',
    ],
    [
      'a jump and a goto, to the rule behind the jump',
      [jump('jump', jump('goto', returns), drops), accepts],
      'accept: accepts it',
    ],
    ['their end as after a return', [jump('jump', marks(0)), accepts], 'accept: accepts it'],
  ])('come back from %s', (_, rules, effect) => {
    expect(effects(base(rules, policy))).toEqual([effect]);
  });

  it('end with a verdict, however deep, which no policy overrules', () => {
    expect(effects(base([jump('jump', jump('goto', accepts))], policy))).toEqual([
      'jump: jump',
      'goto: goto',
      'accept: accepts it',
    ]);
    expect(base([jump('jump', drops), accepts])).toMatchObject([{ verdict: 'drop' }]);
    expect(base([])).toMatchObject([{ verdict: undefined, steps: [] }]);
    expect(base([], policy)).toMatchObject([{ verdict: 'drop' }]);
  });

  it('say nothing of jumps that led to nothing, and only of those', () => {
    expect(effects(base([jump('jump', marks(0), returns), jump('jump', marks(1), returns)]))).toEqual([
      'jump: jump',
      'mark 1: sets the mark to 0x1',
    ]);
  });

  it('let all parts of a packet go their own ways', () => {
    const parts = rule('parts', (state) => [
      { ...marked(shareOf(state, 0.25), 1) },
      { ...accepted(shareOf(state, 0.25)) },
      nextRule(shareOf(state, 0.5)),
    ]);
    const second = rule('second', (state) => [state.mark === 1 ? dropped(state) : nextRule(state)]);
    const states = base([jump('jump', parts, second)]);
    expect(states.map(({ verdict, probability, steps }) => [verdict, probability, steps.length])).toEqual([
      [undefined, 0.25, 2],
      ['drop', 0.25, 3],
      [undefined, 0.5, 0],
    ]);
  });

  it('are not followed for ever where they call each other', () => {
    const endless: Rule = rule('again', (state) => [
      { state, to: { verb: 'jump', chain: chain(endless) }, effect: 'jump' },
    ]);
    const [state] = base([endless]);
    expect(state!.steps.at(-1)).toMatchObject({ uncertain: true });
    expect(state!.verdict).toBeUndefined();
    const before: Rule = rule('before', (met) => [
      { state: met, to: { verb: 'jump', chain: chain(before, drops) }, effect: 'jump' },
    ]);
    expect(base([before])).toMatchObject([{ verdict: 'drop' }]);
  });
});

describe('a step', () => {
  const start = new PacketState(initialState(packet));

  it('is all that one rule does in a row', () => {
    const before = withStep(start, { ...policy, rule: 'before' }, 'zero');
    const uncertain = withStep(before, policy, 'one', true);
    const both = withStep(uncertain, policy, 'two');
    expect(both.steps).toEqual([
      { hook: 'prerouting', where: 'chain', rule: 'before', effect: 'zero' },
      { hook: 'prerouting', where: 'chain', rule: 'policy', effect: 'one; two', uncertain: true },
    ]);
    const others: readonly PacketState[] = [
      withStep(both, { ...policy, rule: 'other' }, 'three'),
      withStep(both, { ...policy, where: 'elsewhere' }, 'three'),
      withStep(both.with({ hook: 'input' }), policy, 'three'),
    ];
    for (const { steps } of others)
      expect(steps.map(({ effect }) => effect)).toEqual(['zero', 'one; two', 'three']);
  });

  it('names the service port of the rule, else that which was found, but not for rules of other programs', () => {
    const found = start.with({ servicePort: 'shop/found/tcp/' });
    const of = (place: Partial<Place>) =>
      withStep(found, { ...policy, ...place }, 'acts').steps[0]!.servicePort;
    expect(of({})).toBe('shop/found/tcp/');
    expect(of({ servicePort: 'shop/own/tcp/' })).toBe('shop/own/tcp/');
    expect(of({ foreign: true })).toBeUndefined();
  });
});

describe('an ending', () => {
  const state = new PacketState(initialState(packet)).with({ isSticky: true });

  it('has an endpoint, and is sticky, only where the packet is sent and nothing stops it', () => {
    expect(verdictOf(state)).toMatchObject({ verdict: 'untouched', sticky: false });
    expect(verdictOf(sent(state, '10.1.1.1', 8080).state)).toMatchObject({
      verdict: 'forward',
      endpoint: { address: '10.1.1.1', port: 8080 },
      sticky: true,
    });
    const stopped = verdictOf(dropped(sent(state, '10.1.1.1', 8080).state).state);
    expect(stopped).toMatchObject({ verdict: 'drop', sticky: false });
    expect(stopped).not.toHaveProperty('endpoint');
  });
});

describe('the path of hooks', () => {
  const LOCAL = '198.51.100.1';
  const nat: HookHandler<PacketState> = (state) => [withStep(state, policy, 'asked to translate')];
  /** Where a packet with this destination comes, and is asked to be translated. */
  const way = (given: Partial<Packet>, ...translators: readonly HookHandler<PacketState>[]) => {
    const path = new HookPath<PacketState>(
      (hook) => [
        (state) => [withStep(state, { ...policy, rule: state.inputInterface }, 'passes')],
        ...(hook === 'forward' ? [] : [translating(...translators)]),
      ],
      (address) => address === LOCAL,
    );
    const [state] = path.follow(new PacketState(initialState({ ...packet, ...given })));
    return state!.steps.map(({ hook, rule, effect }) =>
      effect === 'passes' ? `${hook} ${rule}`.trim() : `${hook}: ${effect}`,
    );
  };

  it.each<[string, Partial<Packet>, readonly string[]]>([
    ['forwarded', {}, ['prerouting eth0', 'forward eth0', 'postrouting eth0']],
    ['received', { destination: LOCAL }, ['prerouting eth0', 'input eth0']],
    ['forward', { inputInterface: undefined }, ['output', 'postrouting']],
    [
      'sent to the node itself',
      { inputInterface: undefined, destination: LOCAL },
      ['output', 'postrouting', 'prerouting lo', 'input lo'],
    ],
  ])('leads packets on their way: %s', (_, given, expected) => {
    expect(way(given)).toEqual(expected);
  });

  it('asks once for each end of a connection where to translate it to', () => {
    expect(way({ inputInterface: undefined, destination: LOCAL }, nat)).toEqual([
      ...['output', 'output: asked to translate', 'postrouting', 'postrouting: asked to translate'],
      ...['prerouting lo', 'input lo'],
    ]);
  });

  it('translates by the first chain that does', () => {
    const to: HookHandler<PacketState> = (state) => [sent(state, '10.1.1.1', 1).state];
    expect(way({ destination: LOCAL }, to, nat)).toEqual([
      ...['prerouting eth0', 'forward eth0', 'postrouting eth0', 'postrouting: asked to translate'],
    ]);
  });

  it('ends with a verdict', () => {
    const path = new HookPath<PacketState>(
      () => [(state) => [dropped(state).state], () => Promise.reject(new Error()) as never],
      () => false,
    );
    expect(path.follow(new PacketState(initialState(packet)))).toMatchObject([
      { verdict: 'drop', hook: 'prerouting' },
    ]);
  });
});
