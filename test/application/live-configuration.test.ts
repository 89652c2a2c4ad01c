import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import {
  ApplyConfiguration,
  type EditEffect,
  LiveConfiguration,
} from '../../src/application/live-configuration.js';
type Values = Readonly<Partial<Record<EditEffect, number>>>;

/** A configuration of one field for each effect, named after it. */
function bench(start: Values) {
  const live = new LiveConfiguration(start);
  const logger = new MemoryLogger();
  const heard: (readonly [Values, Values])[] = [];
  let resyncs = 0;
  live.onChange((present, former) => void heard.push([present, former]));
  const compare = (from: Values, to: Values) =>
    (['none', 'at-once', 'resync', 'restart'] as const)
      .filter((name) => from[name] !== to[name])
      .map((effect) => ({ path: effect, effect }));
  const edits = new ApplyConfiguration(live, compare, () => resyncs++, logger);
  return { live, logger, heard, edits, resyncs: () => resyncs };
}

const refusal = (): never => {
  throw new Error('mode: expected a string, found 5');
};

describe('ApplyConfiguration', () => {
  it('is quiet when nothing changed', () => {
    const { edits, logger, live, resyncs } = bench({ none: 1 });
    expect(edits.apply(() => ({ none: 1 }))).toBe('unchanged');
    expect([logger.lines, resyncs(), live.problem]).toEqual([[], 0, undefined]);
  });

  it('activates fields that take effect at once, and notifies listeners', () => {
    const { edits, live, heard, resyncs, logger } = bench({ 'at-once': 1, none: 1 });
    expect(edits.apply(() => ({ 'at-once': 2, none: 2 }))).toBe('applied');
    expect(live.current).toEqual({ 'at-once': 2, none: 2 });
    expect(heard).toEqual([
      [
        { 'at-once': 2, none: 2 },
        { 'at-once': 1, none: 1 },
      ],
    ]);
    expect(resyncs()).toBe(0);
    expect(logger.lines).toMatchObject([
      {
        level: 'info',
        facts: { atOnce: ['at-once'], resync: [], withoutEffect: ['none'] },
        message: 'applied the edited configuration',
      },
    ]);
  });

  it('has the rules looked at after the listeners know', () => {
    const { edits, live, resyncs } = bench({ resync: 1 });
    let seen = -1;
    live.onChange(() => (seen = resyncs()));
    expect(edits.apply(() => ({ resync: 2 }))).toBe('applied');
    expect([seen, resyncs()]).toEqual([0, 1]);
  });

  it('applies nothing where a new start is needed', () => {
    const { edits, live, heard, resyncs, logger } = bench({ restart: 1, resync: 1 });
    expect(edits.apply(() => ({ restart: 2, resync: 2 }))).toBe('restart');
    expect(live.current).toEqual({ restart: 1, resync: 1 });
    expect([heard, resyncs()]).toEqual([[], 0]);
    expect(logger.lines).toMatchObject([{ level: 'warn', facts: { fields: ['restart'] } }]);
  });

  it('refuses a bad edit, says what is wrong, and keeps what was in force', () => {
    const { edits, live, heard, logger } = bench({ resync: 1 });
    expect(edits.apply(refusal)).toBe('rejected');
    expect(live.current).toEqual({ resync: 1 });
    expect(live.problem).toBe('mode: expected a string, found 5');
    expect(heard).toEqual([]);
    expect(logger.lines).toMatchObject([
      { level: 'error', facts: { problem: 'mode: expected a string, found 5' } },
    ]);
  });

  it.each([
    ['the one in force', { resync: 1 }, 0, 'the configuration file matches the active configuration again'],
    ['a good one', { resync: 2 }, 1, 'applied the edited configuration'],
  ])('forgets a refusal when the edit is replaced by %s', (_, edited, resyncs, message) => {
    const { edits, live, logger, ...rest } = bench({ resync: 1 });
    edits.apply(refusal);
    expect(edits.apply(() => edited)).toBe('applied');
    expect(live.problem).toBeUndefined();
    expect(logger.lines).toMatchObject([{ level: 'error' }, { level: 'info', message }]);
    expect(rest.resyncs()).toBe(resyncs);
  });
});
