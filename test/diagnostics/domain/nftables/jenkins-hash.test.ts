import { networkHalf, addressBytes } from '../../../../src/domain/nftables/kernel/bytes.js';
import { jenkinsHash, scaled } from '../../../../src/diagnostics/domain/nftables/draws.js';
/** Address and port as registers hold them. */
const key = (address: string, port?: number): Uint8Array =>
  Uint8Array.from([...addressBytes(address), ...(port === undefined ? [] : [...networkHalf(port), 0, 0])]);

describe('the hash of Bob Jenkins', () => {
  // Numbers that Linux 6.18 made: `jhash ip6 saddr . udp sport mod 65521 seed 0x6d61676c`.
  it.each([
    ['2001:db8::7', 1025, 0x36d8],
    ['::1', 40000, 0x9e9d],
    ['fd00:244::ffff:1', 65535, 0xc50b],
    ['127.0.0.1', 40000, 0x76d8],
    ['127.1.2.3', 1025, 0x7c0c],
  ])('is that of the kernel: %s port %i', (address, port, number) => {
    expect(scaled(jenkinsHash(key(address, port), 0x6d61676c), 65_521)).toBe(number);
  });

  it.each([
    ['127.1.2.3', 0xf7],
    ['127.200.0.9', 0x362],
  ])('is that of the kernel: %s, seed 0', (address, number) => {
    expect(scaled(jenkinsHash(key(address), 0), 1021)).toBe(number);
  });

  it('of nothing is the beginning', () => {
    expect(jenkinsHash(new Uint8Array(), 5)).toBe(0xdeadbef4);
  });
});
