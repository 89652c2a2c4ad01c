import fc from 'fast-check';
import { formatDuration, parseDuration } from '../../src/application/words.js';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    ['2h22m', 8_520_000],
    ['250ms', 250],
    ['1.5us', 0.0015],
    ['1.5µs', 0.0015],
    ['1.5μs', 0.0015],
    ['-1m', -60_000],
    ['+1m', 60_000],
    ['.5s', 500],
    ['5.s', 5_000],
    ['-0s', 0],
    ['9223372036854775807ns', 9_223_372_036_854.775],
  ])('reads %s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each([
    '',
    '-',
    '30',
    '1d',
    's',
    '.s',
    '1s ',
    ' 1s',
    '1 s',
    '1h30',
    '--1s',
    '1e3s',
    '9223372036854775808ns',
    '3000000h',
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('formatDuration', () => {
  it.each([
    ['0s', '0s'],
    ['250ms', '250ms'],
    ['1000ns', '1µs'],
    ['1000us', '1ms'],
    ['1000ms', '1s'],
    ['1500ns', '1.5µs'],
    ['3600s', '1h0m0s'],
    ['15m', '15m0s'],
    ['90s', '1m30s'],
    ['1500ms', '1.5s'],
    ['24h', '24h0m0s'],
    ['1ns', '1ns'],
    ['999999999ns', '999.999999ms'],
    ['60000000001ns', '1m0.000000001s'],
    ['-90s', '-1m30s'],
  ])('writes %s as %s', (text, canonical) => {
    expect(formatDuration(parseDuration(text)!)).toBe(canonical);
  });

  it('goes round for every number of nanoseconds within a month, and its text is canonical', () => {
    const nanoseconds = fc.bigInt({ min: -(30n * 86_400n * 10n ** 9n), max: 30n * 86_400n * 10n ** 9n });
    fc.assert(
      fc.property(nanoseconds, (ns) => {
        const value = parseDuration(`${ns}ns`)!;
        const text = formatDuration(value);
        expect(parseDuration(text)).toBe(value);
        expect(formatDuration(parseDuration(text)!)).toBe(text);
      }),
    );
  });
});
