import { summaryOf, type Step, type PacketPath } from '../../../../src/diagnostics/domain/trace/trace.js';
const step = (rule: string): Step => ({ hook: 'prerouting', where: 'ip t c', rule, effect: 'acts' });
const ending = (parts: Partial<PacketPath>): PacketPath => ({
  verdict: 'forward',
  endpoint: { address: '10.0.0.2', port: 80 },
  probability: 0.5,
  masquerade: false,
  sticky: false,
  steps: [],
  ...parts,
});
const byMasquerade = ({ masquerade }: PacketPath): boolean => masquerade;

describe('the summary of endings', () => {
  it('adds up the probabilities of an endpoint, and sorts', () => {
    const endings = [
      ending({ probability: 0.25 }),
      ending({ probability: 0.5, endpoint: { address: '10.0.0.1', port: 9090 } }),
      ending({ probability: 0.125, endpoint: { address: '10.0.0.1', port: 80 } }),
      ending({ probability: 0.125 }),
    ];
    expect(summaryOf(endings, byMasquerade)).toMatchObject({
      outcome: 'forward',
      endpoints: [
        { address: '10.0.0.1', port: 80, probability: 0.125 },
        { address: '10.0.0.1', port: 9090, probability: 0.5 },
        { address: '10.0.0.2', port: 80, probability: 0.375 },
      ],
    });
  });

  it.each([
    [[false, false], 'never'],
    [[true, true], 'always'],
    [[true, false], 'mixed'],
  ] as const)('joins rewritten sources %j into %s', (each, joined) => {
    const endings = each.map((masquerade) => ending({ masquerade }));
    expect(summaryOf(endings, byMasquerade).sourceRewrite).toBe(joined);
  });

  it('does not count what is refused or dropped as rewritten', () => {
    const endings = [ending({ verdict: 'drop', masquerade: true }), ending({})];
    expect(summaryOf(endings, byMasquerade)).toMatchObject({ outcome: 'mixed', sourceRewrite: 'never' });
  });

  it.each(['reject', 'drop', 'untouched'] as const)('is %s where all endings are', (verdict) => {
    const { endpoint: _, ...without } = ending({ verdict, probability: 1 });
    expect(summaryOf([without], byMasquerade)).toMatchObject({ outcome: verdict, endpoints: [] });
  });

  it('shows common steps once, then those of each part', () => {
    const common = step('jump');
    const endings = ['a', 'b'].map((rule) => ending({ steps: [common, step(rule), step('end')] }));
    const { steps, uncertain } = summaryOf(endings, byMasquerade);
    expect(steps.map(({ rule }) => rule)).toEqual(['jump', 'a', 'end', 'b', 'end']);
    expect(uncertain).toBeUndefined();
  });

  it('tells steps apart by what they did, not by which object they are', () => {
    const stepsOf = (...second: readonly Step[]) =>
      summaryOf([ending({ steps: [step('jump')] }), ending({ steps: second })], byMasquerade).steps;
    expect(stepsOf(step('jump'))).toEqual([step('jump')]);
    for (const change of [
      { hook: 'output' },
      { where: 'ip t d' },
      { rule: 'drop' },
      { effect: 'stops' },
    ] as const)
      expect(stepsOf({ ...step('jump'), ...change })).toEqual([step('jump'), { ...step('jump'), ...change }]);
  });

  it('is uncertain where a step is', () => {
    const uncertain = [ending({ steps: [{ ...step('x'), uncertain: true }] })];
    expect(summaryOf(uncertain, byMasquerade).uncertain).toBe(true);
  });

  it('is sticky where a packet that arrives is', () => {
    expect(summaryOf([ending({ sticky: true })], byMasquerade).sticky).toBe(true);
    expect(summaryOf([ending({ sticky: true, verdict: 'drop' })], byMasquerade).sticky).toBe(false);
  });
});
