import fc from 'fast-check';
import {
  ComponentScanner,
  componentOf,
  slotLength,
  componentsText,
} from '../../../../src/adapters/nftables/netlink/components.js';
import { parseAddress } from '../../../../src/domain/net/address.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';
import { formatPriority, type DataType } from '../../../../src/domain/nftables/layout/table.js';

function bytesOf(family: IpFamily, types: readonly DataType[], text: string): Buffer {
  const components = types.map((type) => componentOf(family, type));
  const length = components.reduce((sum, component) => sum + slotLength(component), 0);
  const words = new Uint32Array(length / 4).fill(0xffffffff);
  new ComponentScanner().scan(text, components, words, 0);
  return Buffer.from(words.buffer);
}

function textOf(family: IpFamily, types: readonly DataType[], bytes: Buffer): string {
  return componentsText(
    bytes,
    0,
    types.map((type) => componentOf(family, type)),
  );
}

const address6 = fc
  .uint8Array({ minLength: 8, maxLength: 8 })
  .chain((zeros) =>
    fc.tuple(
      ...[...zeros].map((zero) => (zero < 128 ? fc.constant(0) : fc.integer({ min: 0, max: 0xffff }))),
    ),
  )
  .map((groups) => parseAddress(groups.map((group) => group.toString(16)).join(':')))
  .filter((address) => address?.family === 'IPv6')
  .map((address) => address!.text);

const sample: Record<DataType, (family: IpFamily) => fc.Arbitrary<string>> = {
  address: (family) => (family === 'IPv4' ? fc.ipV4() : address6),
  protocol: () => fc.constantFrom('tcp', 'udp', 'sctp', '0', '50', '255'),
  port: () => fc.integer({ min: 0, max: 65535 }).map(String),
  priority: () => fc.integer({ min: 0, max: 0xffffffff }).map(formatPriority),
  slot: () => fc.integer({ min: 0, max: 0xffffffff }).map(String),
};

describe('keys and values', () => {
  it('have the bytes that the kernel compares', () => {
    const frontend: DataType[] = ['address', 'protocol', 'port'];
    expect(bytesOf('IPv4', frontend, '10.96.0.20 . tcp . 80').toString('hex')).toBe(
      '0a6000140600000000500000',
    );
    expect(bytesOf('IPv4', ['protocol', 'port'], 'udp . 30053').toString('hex')).toBe('1100000075650000');
    expect(bytesOf('IPv4', ['address', 'port'], '10.1.1.5 . 8080').toString('hex')).toBe('0a0101051f900000');
    expect(bytesOf('IPv4', ['protocol'], 'sctp').toString('hex')).toBe('84000000');
    expect(bytesOf('IPv4', ['priority'], '8001:23').toString('hex')).toBe('23000180');
    expect(bytesOf('IPv4', ['priority'], 'none').toString('hex')).toBe('00000000');
    expect(bytesOf('IPv4', ['priority'], 'root').toString('hex')).toBe('ffffffff');
    expect(bytesOf('IPv6', ['address'], 'fd00:10::a:1').toString('hex')).toBe(
      'fd0000100000000000000000000a0001',
    );
    expect(bytesOf('IPv6', ['address'], '::').toString('hex')).toBe('0'.repeat(32));
    expect(bytesOf('IPv6', ['address'], '1::').toString('hex')).toBe('0001' + '0'.repeat(28));
    expect(bytesOf('IPv6', ['address'], '1:2:3:4:5:6:7:8').toString('hex')).toBe(
      '00010002000300040005000600070008',
    );
  });

  it('are read back as the text that they were', () => {
    const cases = fc
      .record({
        family: fc.constantFrom<IpFamily>('IPv4', 'IPv6'),
        types: fc.array(fc.constantFrom<DataType>('address', 'protocol', 'port', 'priority'), {
          minLength: 1,
          maxLength: 5,
        }),
      })
      .chain(({ family, types }) =>
        fc.record({
          family: fc.constant(family),
          types: fc.constant(types),
          text: fc.tuple(...types.map((type) => sample[type](family))).map((parts) => parts.join(' . ')),
        }),
      );
    fc.assert(
      fc.property(cases, ({ family, types, text }) => {
        expect(textOf(family, types, bytesOf(family, types, text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it.each<[DataType[], IpFamily, string]>([
    [['address'], 'IPv4', ''],
    [['address'], 'IPv4', '10.0.0'],
    [['address'], 'IPv4', '10.0.0.256'],
    [['address'], 'IPv4', '10.0.0.1 '],
    [['address'], 'IPv4', '10.0..1'],
    [['address'], 'IPv4', 'fd00::1'],
    [['address'], 'IPv6', '10.0.0.1'],
    [['address'], 'IPv6', ':1'],
    [['address'], 'IPv6', '1:2:3'],
    [['address'], 'IPv6', '1::2::3'],
    [['address'], 'IPv6', '1:'],
    [['address'], 'IPv6', '1:2:3:4:5:6:7:8:9'],
    [['address'], 'IPv6', '1:2:3:4:5:6:7:8::'],
    [['address'], 'IPv6', '1:2:3:4::5:6:7:8'],
    [['address'], 'IPv6', 'fd00::12345'],
    [['address', 'port'], 'IPv4', '10.0.0.1.80'],
    [['address', 'port'], 'IPv4', '10.0.0.1 . 65536'],
    [['address', 'port'], 'IPv4', '10.0.0.1 . '],
    [['protocol'], 'IPv4', 'TCP'],
    [['protocol'], 'IPv4', 'tcpx'],
    [['port'], 'IPv4', '-1'],
    [['priority'], 'IPv4', ':1'],
    [['priority'], 'IPv4', '1:'],
    [['priority'], 'IPv4', '1'],
    [['priority'], 'IPv4', '10000:1'],
  ])('that are none are refused: %j in %s %j', (types, family, text) => {
    expect(() => bytesOf(family, types, text)).toThrow('cannot be written to nftables');
  });
});
