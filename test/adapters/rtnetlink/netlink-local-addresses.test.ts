import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { addressBytes, NETLINK_ROUTE } from '../../../src/adapters/netlink/protocol.js';
import { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';
import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { NetlinkLocalAddresses } from '../../../src/adapters/rtnetlink/netlink-local-addresses.js';
import { errorMessage, FakeLibc, plainMessage } from '../../support/fake-libc.js';

const NEW_ADDRESS = 20;
const DELETED_ADDRESS = 21;
const DONE = 3;
const EPERM = 1;
const ENODEV = 19;
const ENOBUFS = 105;
const ETH0 = 2;

/** A message of an address on a device, in an answer or, with the sequence number 0, in a notice. */
function message(type: number, address: string, sequence = 0): Buffer {
  const writer = new MessageWriter();
  const start = writer.beginMessage(type, 0, sequence);
  writer.putWord((address.includes(':') ? 10 : 2) | (24 << 8));
  writer.putWord(ETH0);
  writer.putBytes(1, addressBytes(address));
  writer.endMessage(start);
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}

describe('the addresses of this machine over netlink', () => {
  const clock = new FakeClock();
  const logger = new MemoryLogger();
  /** What the kernel has. */
  let present: string[];
  let refusal: number;
  let dumps: number;
  let watch: FakeLibc;
  let addresses: NetlinkLocalAddresses;
  let changes: number;
  /** Messages arrive; followers hear of them within a tenth of a second. */
  const arrive = (...messages: (Buffer | number)[]): void => {
    watch.incoming = messages;
    process.emit('SIGURG');
    clock.advance(100);
  };
  beforeEach(() => {
    present = ['192.0.2.2', '192.0.2.1'];
    [refusal, dumps, changes] = [0, 0, 0];
    addresses = new NetlinkLocalAddresses('kube-ipvs0', clock, logger, (groups) => {
      const libc = new FakeLibc();
      if (groups !== 0) return NetlinkSocket.open(NETLINK_ROUTE, { groups, libc: (watch = libc) });
      dumps++;
      const listed = present.map((address) => message(NEW_ADDRESS, address, 2));
      libc.incoming =
        refusal === 0
          ? [errorMessage(1, ENODEV), Buffer.concat(listed), plainMessage(DONE, 2)]
          : [errorMessage(1, refusal)];
      return NetlinkSocket.open(NETLINK_ROUTE, { libc });
    });
  });
  afterEach(() => {
    addresses.close();
    expect([clock.pending, process.listenerCount('SIGURG')]).toEqual([0, 0]);
  });

  it('are read on first use, and then again every half minute', () => {
    expect(dumps).toBe(0);
    expect(addresses.list()).toEqual(['192.0.2.1', '192.0.2.2']);
    present.push('192.0.2.3');
    clock.advance(29_999);
    expect([addresses.list().length, dumps]).toEqual([2, 1]);
    clock.advance(1);
    expect([addresses.list().length, dumps]).toEqual([3, 2]);
  });

  it('follow notices without being read, and tell once of what came of them', () => {
    addresses.list();
    addresses.follow(() => changes++);
    watch.incoming = [message(NEW_ADDRESS, '192.0.2.1'), message(NEW_ADDRESS, '2001:db8::3')];
    expect(addresses.list()).toEqual(['192.0.2.1', '192.0.2.2', '2001:db8::3']);
    clock.advance(100);
    expect(changes).toBe(1);
    arrive(message(DELETED_ADDRESS, '192.0.2.1'), message(NEW_ADDRESS, '192.0.2.1'));
    expect([changes, dumps]).toEqual([1, 1]);
  });

  it('tell also of a change between the first look and the following', () => {
    addresses.list();
    watch.incoming = [message(DELETED_ADDRESS, '192.0.2.1')];
    addresses.list();
    addresses.follow(() => changes++);
    clock.advance(1_000);
    expect(changes).toBe(1);
  });

  it('wake nobody while nothing changes, and are read once for notices that come together', () => {
    addresses.list();
    addresses.follow(() => changes++);
    clock.advance(100);
    expect(clock.pending).toBe(0);
    watch.incoming = [message(NEW_ADDRESS, '192.0.2.8')];
    for (let notice = 0; notice < 3; notice++) process.emit('SIGURG');
    expect(clock.pending).toBe(1);
    clock.advance(100);
    expect([changes, clock.pending]).toEqual([1, 0]);
  });

  it('are read again when notices were lost', () => {
    addresses.list();
    addresses.follow(() => changes++);
    clock.advance(100);
    present = ['192.0.2.9'];
    arrive(ENOBUFS);
    expect([addresses.list(), changes]).toEqual([['192.0.2.9'], 1]);
  });

  it('are refused where they could never be read, and otherwise stay until they can be read again', () => {
    refusal = EPERM;
    expect(() => addresses.list()).toThrow('not permitted');
    refusal = 0;
    addresses.list();
    addresses.follow(() => changes++);
    clock.advance(100);
    [refusal, present] = [EPERM, ['192.0.2.9']];
    const before = logger.at('error').length;
    arrive(ENOBUFS);
    clock.advance(1_000);
    expect(addresses.list()).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(logger.at('error')).toHaveLength(before + 1);
    refusal = 0;
    clock.advance(100);
    expect([addresses.list(), changes]).toEqual([['192.0.2.9'], 1]);
  });
});
