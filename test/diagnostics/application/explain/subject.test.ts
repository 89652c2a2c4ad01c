import fc from 'fast-check';
import {
  parseSubject,
  subjectText,
} from '../../../../src/diagnostics/application/explain/explain-address.js';

describe('parseSubject', () => {
  it.each([
    ['shop/cart', { kind: 'service', service: 'shop/cart' }],
    ['shop/tcp', { kind: 'service', service: 'shop/tcp' }],
    ['30080/cart', { kind: 'service', service: '30080/cart' }],
    ['99999/tcp', { kind: 'service', service: '99999/tcp' }],
    ['10.96.0.80', { kind: 'address', address: '10.96.0.80' }],
    ['10.96.0.80:80', { kind: 'address', address: '10.96.0.80', port: 80 }],
    ['10.96.0.80:53/udp', { kind: 'address', address: '10.96.0.80', port: 53, protocol: 'UDP' }],
    ['fd00::0001', { kind: 'address', address: 'fd00::1' }],
    ['[fd00::1]:80', { kind: 'address', address: 'fd00::1', port: 80 }],
    ['[fd00::1]:80/SCTP', { kind: 'address', address: 'fd00::1', port: 80, protocol: 'SCTP' }],
    ['30080', { kind: 'address', port: 30080 }],
    ['30080/tcp', { kind: 'address', port: 30080, protocol: 'TCP' }],
  ])('reads %s', (text, subject) => {
    expect(parseSubject(text)).toEqual(subject);
  });

  it.each([
    '',
    'cart',
    'a/b/c',
    '10.96.0.80:0',
    '10.96.0.80:70000',
    '[10.96.0.80',
    '0',
    '10.96.0.80/icmp',
    'x y',
  ])('does not know what %j is', (text) => {
    expect(parseSubject(text)).toBeUndefined();
  });

  it('reads what it wrote', () => {
    const subject = fc.record(
      {
        address: fc.constantFrom('10.96.0.80', 'fd00::1'),
        port: fc.integer({ min: 1, max: 65535 }),
        protocol: fc.constantFrom('TCP', 'UDP', 'SCTP'),
      },
      { requiredKeys: ['port'] },
    );
    fc.assert(
      fc.property(subject, (parts) => {
        const asked = { kind: 'address', ...parts } as const;
        expect(parseSubject(subjectText(asked))).toEqual(asked);
      }),
    );
  });
});
