import {
  columns,
  formatted,
  chooseColors,
  cutLine,
  inToneOf,
  visibleLength,
  written,
} from '../../../../../src/diagnostics/adapters/cli/output.js';
const GREEN = '\x1b[32m';
const YELLOW = '\x1b[33m';
const RED = '\x1b[31m';
const PLAIN = '\x1b[39m';

afterEach(() => chooseColors('never'));

describe('colors', () => {
  it.each([
    ['auto', {}, true, true],
    ['auto', {}, false, false],
    ['auto', { NO_COLOR: '1' }, true, false],
    ['auto', { NO_COLOR: '' }, true, true],
    ['auto', { TERM: 'dumb' }, true, false],
    ['auto', { TERM: 'xterm' }, true, true],
    ['always', { NO_COLOR: '1' }, false, true],
    ['never', {}, true, false],
  ] as const)('%s with %j, terminal: %j: %j', (choice, environment, isTerminal, isColored) => {
    chooseColors(choice, environment, isTerminal);
    expect(written(inToneOf('ok'))).toBe(isColored ? `${GREEN}ok${PLAIN}` : 'ok');
  });

  it.each([
    ['ok', GREEN],
    ['programmed', GREEN],
    ['forward', GREEN],
    ['degraded', YELLOW],
    ['pending', YELLOW],
    ['not-serving', RED],
    ['failed', RED],
    ['drop', RED],
  ])('of %s', (state, color) => {
    chooseColors('always');
    expect(written(`a ${inToneOf(state, 'text')} b\n`)).toBe(`a ${color}text${PLAIN} b\n`);
  });

  it.each(['untouched', 'removed', 'constructor', ''])('are not given to %j', (state) => {
    chooseColors('always');
    expect(written(inToneOf(state))).toBe(state);
  });

  it.each(['json', 'yaml'] as const)('are not in %s', (format) => {
    chooseColors('always');
    const told = formatted(format, { state: inToneOf('failed') }, () => []);
    expect(written(told)).not.toMatch(/[^\P{C}\n]/u);
  });

  it('cannot be given by texts of others, nor anything else that controls a terminal', () => {
    chooseColors('always');
    const forged = `${inToneOf('ok')}\x1b[32m\u009b`;
    const told = formatted('text', { forged }, (value) => [inToneOf('failed', value.forged)]);
    expect(written(told)).toBe(`${RED}\\ue000ok\\ue003\\x1b[32m\\u009b${PLAIN}\n`);
    expect(written(inToneOf('failed', '\x1b[2J'))).toBe(`${RED}\\x1b[2J${PLAIN}`);
  });
});

describe('what has no color', () => {
  it('has no marks', () => {
    expect(written(`${inToneOf('failed')}, ${inToneOf('ok')}\n`)).toBe('failed, ok\n');
  });

  it('is aligned and cut by what is seen', () => {
    expect(visibleLength(`a ${inToneOf('failed')}!`)).toBe(9);
    const lines = columns(
      ['A', 'B'],
      [
        [inToneOf('failed'), 'x'],
        ['y', 'z'],
      ],
    );
    expect(lines.map(written)).toEqual(['A       B', 'failed  x', 'y       z']);
    const line = `a ${inToneOf('failed')} b`;
    expect(Array.from({ length: 11 }, (_, width) => written(cutLine(line, width)))).toEqual(
      Array.from({ length: 11 }, (_, width) => 'a failed b'.slice(0, width)),
    );
    chooseColors('always');
    expect(written(cutLine(line, 4))).toBe(`a ${RED}fa${PLAIN}`);
  });
});
