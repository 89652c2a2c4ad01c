import { NetlinkSocket } from '../../../../src/adapters/netlink/netlink-socket.js';
import { CommitListener } from '../../../../src/adapters/nftables/netlink/commit-listener.js';
import { commitMessage, FakeLibc, plainMessage } from '../../../support/fake-libc.js';

const ENOBUFS = 105;
const NEWRULE = 0x0a06;

function listen(libc = new FakeLibc()) {
  return { libc, listener: CommitListener.open((options) => NetlinkSocket.open(12, { ...options, libc })) };
}

it('tells which transactions a child committed', () => {
  const { libc, listener } = listen();
  libc.incoming = [
    commitMessage(2, { generation: 7, port: 42, process: 1042 }),
    commitMessage(2, { generation: 8, port: 43, process: 1043 }),
    plainMessage(NEWRULE, 3),
    commitMessage(2, { generation: 9, port: 42, process: 1042 }),
  ];
  expect(listener.generationsOf(42)).toEqual([7, 9]);
  listener.close();
  listener.close();
  expect(libc.closed).toEqual([5]);
});

it('tells of none when some may be missing', () => {
  const { libc, listener } = listen();
  libc.incoming = [commitMessage(2, { generation: 7, port: 42 }), ENOBUFS];
  expect(listener.generationsOf(42)).toEqual([]);
});

it('tells of none when a process of another container had the same number', () => {
  const { libc, listener } = listen();
  libc.incoming = [
    commitMessage(2, { generation: 7, port: 42, process: 5042 }),
    commitMessage(2, { generation: 8, port: 42, process: 1042 }),
  ];
  expect(listener.generationsOf(42)).toEqual([]);
});

it('leaves nothing open when the kernel rejects the filter', () => {
  const libc = new FakeLibc();
  libc.filterError = 12;
  expect(() => listen(libc)).toThrow('SO_ATTACH_FILTER');
  expect(libc.closed).toEqual([5]);
});
