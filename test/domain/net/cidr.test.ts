import fc from 'fast-check';
import { parseAddress } from '../../../src/domain/net/address.js';
import { addressBits, cidrContains, cidrText, maskAddress, parseCidr } from '../../../src/domain/net/cidr.js';

describe('parseCidr', () => {
  it.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['010.1.2.3/08', '10.0.0.0/8'],
    ['10.1.2.3/0', '0.0.0.0/0'],
    ['10.1.2.3/32', '10.1.2.3/32'],
    ['10.255.255.255/9', '10.128.0.0/9'],
    ['FD00:96::71/112', 'fd00:96::/112'],
    ['fd00::1/128', 'fd00::1/128'],
    ['fd00::1/0', '::/0'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
  ])('reads %s as %s', (text, canonical) => {
    expect(cidrText(parseCidr(text)!)).toBe(canonical);
  });

  it.each([
    '10.0.0.0',
    '10.0.0.0/',
    '/8',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
    '10.0.0.0/8 ',
    '10.0.0.0/255.0.0.0',
    '10.0.0.0/99999',
    '::/129',
    'fe80::1%eth0/64',
    '',
    undefined,
    8,
    ['10.0.0.0/8'],
  ])('refuses %j', (text) => {
    expect(parseCidr(text)).toBeUndefined();
  });

  it.each(['::ffff:10.0.0.0/0', '::ffff:10.0.0.0/24', '::ffff:10.0.0.0/104'])(
    'refuses %s: an IPv4 network under an IPv6 prefix length',
    (text) => {
      expect(parseCidr(text)).toBeUndefined();
    },
  );
});

describe('networks', () => {
  const address = fc.oneof(
    fc.ipV4(),
    fc
      .uint8Array({ minLength: 16, maxLength: 16 })
      .map((bytes) =>
        Array.from({ length: 8 }, (_, i) => (bytes[2 * i]! * 256 + bytes[2 * i + 1]!).toString(16)).join(':'),
      ),
  );
  const network = fc.tuple(address, fc.nat(128)).map(([text, length]) => {
    const { family } = parseAddress(text)!;
    return { text, family, length: Math.min(length, addressBits(family)) };
  });

  it('contain the address that they are made from, read their text as themselves, and have no host bits', () => {
    fc.assert(
      fc.property(network, ({ text, length }) => {
        const inside = parseAddress(text)!;
        fc.pre(inside.family === (text.includes(':') ? 'IPv6' : 'IPv4'));
        const cidr = parseCidr(`${text}/${length}`)!;
        expect(cidrContains(cidr, inside.text)).toBe(true);
        expect(parseCidr(cidrText(cidr))).toEqual(cidr);
        expect(maskAddress(cidr.address, length)).toBe(cidr.address);
      }),
    );
  });

  it('contain what agrees with them in the prefix, bit for bit, and nothing else', () => {
    const bits = (text: string) =>
      text
        .split('.')
        .map((octet) => Number(octet).toString(2).padStart(8, '0'))
        .join('');
    fc.assert(
      fc.property(fc.ipV4(), fc.ipV4(), fc.nat(32), (one, other, length) => {
        const expected = bits(one).slice(0, length) === bits(other).slice(0, length);
        expect(cidrContains(parseCidr(`${one}/${length}`)!, other)).toBe(expected);
      }),
    );
  });

  it('never contain an address of the other family', () => {
    expect(cidrContains(parseCidr('0.0.0.0/0')!, 'fd00::1')).toBe(false);
    expect(cidrContains(parseCidr('::/0')!, '10.0.0.1')).toBe(false);
  });
});
