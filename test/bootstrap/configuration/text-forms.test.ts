import { parse as parseYaml } from 'yaml';
import { configurationText } from '../../../src/bootstrap/configuration/configuration-file.js';
import {
  float,
  int32,
  stringSlice,
  ValueError,
  verbosityLevel,
} from '../../../src/bootstrap/configuration/value-types.js';
import { parse } from './support.js';

describe('lists on the command line (docs/internals/spec/configuration.md §2: CSV)', () => {
  it.each([
    ['a', ['a']],
    ['a,b', ['a', 'b']],
    [' a, b ', [' a', ' b ']],
    ['a,,b,', ['a', '', 'b', '']],
    ['"a,b",c', ['a,b', 'c']],
    ['"a ""b""",c', ['a "b"', 'c']],
  ])('%s', (text, fields) => {
    expect(stringSlice.fromFlag(text)).toEqual(fields);
    expect(stringSlice.fromFlag(stringSlice.format(fields).slice(1, -1), ['x'])).toEqual(['x', ...fields]);
  });

  it.each(['"a', 'a"b"', '"a"b', '"a",b"'])('%s has a quote out of place', (text) => {
    expect(() => stringSlice.fromFlag(text)).toThrow(ValueError);
  });
});

/** NaN: it is rejected. */
function expectNumber(parsed: () => number | undefined, number: number): void {
  if (Number.isNaN(number)) expect(parsed).toThrow(ValueError);
  else expect(parsed()).toBe(number);
}

describe('numbers on the command line', () => {
  it.each([
    ['0', 0],
    ['-12', -12],
    ['+12', 12],
    ['0x1F', 31],
    ['-0X1f', -31],
    ['0o17', 15],
    ['017', 15],
    ['0b101', 5],
    ['1_000', 1000],
    ['0x_ff', 255],
    ['-0', 0],
    ['', NaN],
    ['08', NaN],
    ['1__0', NaN],
    ['_1', NaN],
    ['0x', NaN],
    ['1e3', NaN],
    ['1.0', NaN],
    [' 1', NaN],
  ])('the integer %j', (text, number) => {
    expectNumber(() => int32.fromFlag(text), number);
  });

  it('the level of the log is decimal', () => {
    expect(verbosityLevel.fromFlag('010')).toBe(10);
    expect(() => verbosityLevel.fromFlag('0x1')).toThrow(ValueError);
  });

  it.each([
    ['5', 5],
    ['-.5', -0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['', NaN],
    ['0x10', NaN],
    ['Infinity', NaN],
    ['1e39', NaN],
  ])('the decimal number %j', (text, number) => {
    expectNumber(() => float.fromFlag(text), number);
  });
});

describe('the text that --write-config-to writes (docs/internals/spec/configuration.md §5)', () => {
  const text = configurationText(
    parse([
      '--proxy-mode=nftables',
      '--bind-address=::',
      '--nodeport-addresses=10.0.0.0/8,fd00::/8',
      '--show-hidden-metrics-for-version=1.36',
      '--hostname-override=123',
    ]),
  );
  const lines = text.split('\n');

  it('has one key on a line, sorted, with lists not indented and nothing in flow style', () => {
    expect(lines.slice(0, 4)).toEqual([
      'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
      "bindAddress: '::'",
      'bindAddressHardFail: false',
      'clientConnection:',
    ]);
    expect(text).toContain('\nnodePortAddresses:\n- 10.0.0.0/8\n- fd00::/8\noomScoreAdj: -999\n');
    expect(text).toContain('\n  excludeCIDRs: null\n');
    expect(text.endsWith('  sourceVip: ""\n')).toBe(true);
  });

  it('quotes what would be read as something else', () => {
    expect(lines).toEqual(
      expect.arrayContaining([
        'hostnameOverride: "123"',
        'showHiddenMetricsForVersion: "1.36"',
        '      infoBufferSize: "0"',
      ]),
    );
  });

  it('is read as what it was', () => {
    const { kind, ...rest } = parseYaml(text) as Record<string, unknown>;
    expect(kind).toBe('KubeProxyConfiguration');
    expect(configurationText(parse(['--config', 'f'], text))).toBe(text);
    expect(rest.healthzBindAddress).toBe('0.0.0.0:10256');
  });
});
