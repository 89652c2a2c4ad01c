/** Good and doubtful values of fields. */
export const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
export const BAD_PROTOCOLS = ['tcp', '', 'HTTP', null, 6];
export const BAD_PORTS = [0, -1, 65536, 70000, '80', 80.5, null];
export const BAD_NAMES = ['A', '-a', 'a.b', 'a_b', 'x'.repeat(64), '', 5, null];

export const V4 = ['192.0.2.7', '203.0.113.9'];
export const V6 = ['2001:db8::7', '2001:DB8::8'];
export const BAD_ADDRESSES = [
  '127.0.0.1',
  '0.0.0.0',
  '169.254.1.1',
  '224.0.0.5',
  '::1',
  'fe80::1',
  '::ffff:192.0.2.1',
  '192.0.2.07',
  '192.0.2',
  'x',
  '',
  '192.0.2.256',
  5,
  null,
];
export const NETWORKS = ['10.0.0.0/8', '2001:db8::/32', '192.0.2.1/32'];
export const BAD_NETWORKS = [
  '10.0.0.1/8',
  '10.0.0.0',
  '10.0.0.0/33',
  '010.0.0.0/8',
  '10.0.0.0/08',
  '::ffff:10.0.0.0/104',
  '',
  'x',
  5,
  null,
];
