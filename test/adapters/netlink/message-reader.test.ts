import { errnoName } from '../../../src/adapters/netlink/errors.js';
import { readMessages, readReply } from '../../../src/adapters/netlink/message-reader.js';

function message(type: number, flags: number, sequence: number, payload: string): Buffer {
  const body = Buffer.from(payload, 'hex');
  const header = Buffer.alloc(16);
  header.writeUInt32LE(16 + body.length, 0);
  header.writeUInt16LE(type, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt32LE(sequence, 8);
  return Buffer.concat([header, body, Buffer.alloc((4 - (body.length % 4)) % 4)]);
}

function read(...datagram: readonly Buffer[]) {
  const bytes = Buffer.concat(datagram);
  return [...readMessages(bytes, bytes.length)].map((found) => readReply(found));
}

const header = '14000000' + '000a0100' + '05000000' + '00000000';
const explanation = '0b000100' + '6e6f206861726d00'.slice(0, 14) + '00';
const offset = '08000200' + '2c000000';

describe('replies', () => {
  it('are acknowledgements or errors, with the number of the message', () => {
    expect(
      read(message(2, 0x100, 5, '00000000' + header), message(2, 0x100, 6, 'efffffff' + header)),
    ).toEqual([
      { sequence: 5, errno: 0 },
      { sequence: 6, errno: 17 },
    ]);
  });

  it('carry the kernel’s explanation and the place', () => {
    const capped = message(2, 0x300, 5, 'eaffffff' + header + explanation + offset);
    expect(read(capped)).toEqual([{ sequence: 5, errno: 22, explanation: 'no harm', offset: 44 }]);
  });

  it('may repeat the whole message first', () => {
    const repeated = message(
      2,
      0x200,
      5,
      'eaffffff' + '15000000' + header.slice(8) + '0201000061000000' + offset,
    );
    expect(read(repeated)).toEqual([{ sequence: 5, errno: 22, offset: 44 }]);
  });

  it('end dumps', () => {
    expect(read(message(3, 2, 9, '00000000'), message(3, 2, 9, 'feffffff'), message(3, 2, 9, ''))).toEqual([
      { sequence: 9, errno: 0 },
      { sequence: 9, errno: 2 },
      { sequence: 9, errno: 0 },
    ]);
  });

  it('are distinguished from other messages', () => {
    expect(read(message(0x0a03, 2, 9, '02000000'))).toEqual([undefined]);
  });

  it('that are cut off are refused', () => {
    expect(() => read(message(2, 0, 5, '00000000'))).toThrow('cut short');
    expect(() => read(message(2, 0, 5, '00000000' + header).subarray(0, 30))).toThrow(
      '36 bytes where 30 are left',
    );
    expect(() => read(Buffer.alloc(16))).toThrow('0 bytes');
  });
});

describe('errnoName', () => {
  it.each([
    [1, 'EPERM'],
    [2, 'ENOENT'],
    [11, 'EAGAIN'],
    [16, 'EBUSY'],
    [17, 'EEXIST'],
    [22, 'EINVAL'],
    [34, 'ERANGE'],
    [85, 'ERESTART'],
    [90, 'EMSGSIZE'],
    [95, 'EOPNOTSUPP'],
    [105, 'ENOBUFS'],
    [4095, 'errno 4095'],
  ])('%i is %s', (errno, name) => expect(errnoName(errno)).toBe(name));
});
