import * as checks from '../../../src/domain/validation/text-checks.js';
import type { TextCheck } from '../../../src/domain/validation/text-checks.js';

const LABEL_VALUE =
  'is not a label value: at most 63 letters, digits, "-", "_", ".", with a letter or digit at both ends';
const PORT_NAME =
  'is not the name of a port: at most 15 of a-z, 0-9 and "-", with a letter, no "--", and no "-" at an end';
const QUALIFIED_NAME = 'is not a qualified name such as name or example.com/name';

/** Each check, what it accepts, and what it says of what it does not. */
const CASES: readonly (readonly [TextCheck, readonly string[], Readonly<Record<string, string>>])[] = [
  [checks.dnsLabel, ['a', 'a-1', 'x'.repeat(63)], { '': 'is not a DNS label', 'a.b': 'is not a DNS label' }],
  [
    checks.dnsSubdomain,
    ['a.b', `${'x.'.repeat(126)}x`],
    { 'a..b': 'is not a DNS subdomain', [`${'x.'.repeat(126)}xy`]: 'is not a DNS subdomain' },
  ],
  [checks.domainName, ['a.b', 'a.b.'], { a: 'is not a full domain name', 'a.': 'is not a full domain name' }],
  [checks.externalName, ['a', 'a.b.'], { a_b: 'is not a DNS subdomain' }],
  [
    checks.qualifiedName,
    ['A_b', 'a.b/C'],
    { 'a/b/c': QUALIFIED_NAME, 'A/b': QUALIFIED_NAME, '': QUALIFIED_NAME },
  ],
  [checks.annotationKey, ['A.b/C'], { '-': QUALIFIED_NAME }],
  [checks.labelValue, ['', 'A_b.c'], { 'b c': LABEL_VALUE }],
  [
    checks.portName,
    ['http', 'x'.repeat(15)],
    { ['x'.repeat(16)]: PORT_NAME, '80': PORT_NAME, 'a--b': PORT_NAME },
  ],
  [
    checks.time,
    ['2024-01-02T03:04:05Z', '2024-01-02T03:04:05.6+07:00'],
    { yesterday: 'is not an RFC 3339 time', '2024-13-02T03:04:05Z': 'is not an RFC 3339 time' },
  ],
  [checks.oneOf('TCP', 'UDP'), ['TCP', 'UDP'], { tcp: 'is not one of TCP, UDP' }],
  [
    checks.address,
    ['10.0.0.1', 'FE00::1'],
    {
      x: 'is not an IP address',
      '::ffff:1.2.3.4': 'is an IPv4-mapped IPv6 address',
      '1.2.3.04': 'has leading zeros',
    },
  ],
  [
    checks.reachableAddress,
    ['10.0.0.1', 'fd00::1'],
    {
      x: 'is not an IP address',
      '127.0.0.1': 'is a loopback address',
      '0.0.0.0': 'is the unspecified address',
    },
  ],
  [
    checks.endpointAddress('IPv6'),
    ['fd00::1'],
    {
      '10.0.0.1': 'is not an IPv6 address',
      '::ffff:1.2.3.4': 'is an IPv4-mapped IPv6 address',
      'FD00::1': 'is not in canonical form; write fd00::1',
    },
  ],
  [
    checks.cidr,
    ['10.0.0.0/8', 'FD00::/8', '10.0.0.1/32'],
    {
      x: 'is not a CIDR',
      '10.0.0.0': 'is not a CIDR',
      '::ffff:1.2.3.0/120': 'is an IPv4-mapped IPv6 network',
      '10.0.0.0/08': 'has leading zeros',
      '10.0.0.1/8': 'is an address within 10.0.0.0/8; write that',
    },
  ],
  [
    checks.canonicalCidr,
    ['fd00::/8'],
    { 'FD00::/8': 'is not in canonical form; write fd00::/8', x: 'is not a CIDR' },
  ],
  [checks.paddedCidr, [' 10.0.0.0/8 '], { ' x ': 'is not a CIDR' }],
];

it.each(CASES)('a text passes %p, or is told what is wrong with it', (check, good, bad) => {
  for (const text of good) expect([text, check(text)]).toEqual([text, undefined]);
  expect(Object.fromEntries(Object.keys(bad).map((text) => [text, check(text)]))).toEqual(bad);
});
