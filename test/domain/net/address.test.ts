import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { hostPort, isLoopback, parseAddress } from '../../../src/domain/net/address.js';
import { anyText } from '../../support/any-text.js';

describe('parseAddress', () => {
  it.each([
    ['10.0.0.1', 'IPv4', '10.0.0.1'],
    ['010.000.0.08', 'IPv4', '10.0.0.8'],
    ['255.255.255.255', 'IPv4', '255.255.255.255'],
    ['::ffff:10.1.2.3', 'IPv4', '10.1.2.3'],
    ['::FFFF:0a01:0203', 'IPv4', '10.1.2.3'],
    ['2001:DB8:0:0:0:0:0:1', 'IPv6', '2001:db8::1'],
    ['2001:0db8::0001', 'IPv6', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', 'IPv6', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', 'IPv6', '2001:0:0:1::1'],
    ['64:ff9b::1.2.3.4', 'IPv6', '64:ff9b::102:304'],
    ['::1.2.3.4', 'IPv6', '::102:304'],
    ['1:2:3:4:5:6:010.0.0.8', 'IPv6', '1:2:3:4:5:6:a00:8'],
    ['::', 'IPv6', '::'],
    ['::1', 'IPv6', '::1'],
  ])('reads %s as %s %s', (text, family, canonical) => {
    expect(parseAddress(text)).toEqual({ family, text: canonical });
  });

  it.each([
    '',
    ' ',
    '10.0.0',
    '10.0.0.256',
    '10.0.0.1.1',
    '10.0.0.1 ',
    ' 10.0.0.1',
    '10.0.0.1\n',
    '0x0a.0.0.1',
    '167772161',
    '-1.0.0.0',
    '+1.0.0.0',
    'localhost',
    '10.0.0.1/32',
    'fe80::1%eth0',
    '[::1]',
    ':::',
    '1::2::3',
    ':1',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::1',
    '00001::1',
    '::g',
    '::1\n',
    '::0x7f.0.0.1',
    '::ffff:0x7f.0.0.1',
    '::256.0.0.1',
    undefined,
    null,
    1,
    {},
    ['10.0.0.1'],
  ])('refuses %j', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });

  it('reads its own output as itself', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        const address = parseAddress(text);
        if (address) expect(parseAddress(address.text)).toEqual(address);
      }),
    );
  });

  it('reads every address that the operating system reads, and gives the same family or that of the mapped one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const address = parseAddress(text);
        if (!isIPv4(text) && !isIPv6(text)) return;
        expect(address).toBeDefined();
        if (isIPv4(text)) expect(address).toEqual({ family: 'IPv4', text });
      }),
    );
  });

  it('reads nothing with colons that the operating system refuses', () => {
    const pieces = fc.constantFrom(
      ':',
      '::',
      '0',
      '1',
      'ff',
      'abcd',
      '12345',
      '.',
      '1.2.3.4',
      '0x1',
      '%',
      'x',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        // Leading zeros in a quad are read as Kubernetes reads them; the operating system refuses those alone.
        const strict = text.replace(/\b0+(?=\d+\.)/g, '');
        if (text.includes(':') && parseAddress(text)) expect(isIPv6(strict)).toBe(true);
      }),
      { numRuns: 1000, examples: [[['::', '0', '1.2.3.4']]] },
    );
  });

  it('gives only characters that mean nothing in a rule', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.ipV6(), fc.ipV4Extended()), (text) => {
        const address = parseAddress(text);
        if (address) expect(address.text).toMatch(address.family === 'IPv4' ? /^[0-9.]+$/ : /^[0-9a-f:]+$/);
      }),
    );
  });
});

describe('isLoopback', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.255.0.9', true],
    ['128.0.0.1', false],
    ['::1', true],
    ['::2', false],
  ])('%s: %s', (text, expected) => {
    expect(isLoopback(parseAddress(text)!)).toBe(expected);
  });
});

it('hostPort puts brackets around IPv6', () => {
  expect(hostPort('10.0.0.1', 80)).toBe('10.0.0.1:80');
  expect(hostPort('fd00::1', 80)).toBe('[fd00::1]:80');
});
