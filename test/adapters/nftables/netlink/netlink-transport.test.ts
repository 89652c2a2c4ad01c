import { NetlinkNftTransport } from '../../../../src/adapters/nftables/netlink/netlink-transport.js';
import { NetlinkSocket } from '../../../../src/adapters/netlink/netlink-socket.js';
import { CHAIN, RULE, TABLE } from '../../../../src/adapters/nftables/netlink/records.js';
import { MessageWriter } from '../../../../src/adapters/netlink/message-writer.js';
import type { Operation } from '../../../../src/domain/nftables/layout/table.js';
import { commitMessage, errorMessage, FakeLibc, plainMessage } from '../../../support/fake-libc.js';

const ENOENT = 2;
const EAGAIN = 11;
const EBUSY = 16;
const ENOBUFS = 105;
const NEWTABLE = 0x0a00;
const NEWRULE = 0x0a06;
const NEWCHAIN = 0x0a03;
const DONE = 3;

const DELETE: Operation = { op: 'delete-table' };

function open() {
  const libc = new FakeLibc();
  const transport = NetlinkNftTransport.open(() => NetlinkSocket.open(12, { libc }));
  return { libc, transport };
}

/** The answer to GETGEN. */
const generation = (sequence: number, id: number): Buffer => commitMessage(sequence, { generation: id });

/** What the kernel tells of an object. */
function told(type: number, sequence: number, put: (writer: MessageWriter) => void): Buffer {
  const writer = new MessageWriter(256);
  const start = writer.beginMessage(type, 0, sequence);
  writer.putWord(2);
  put(writer);
  writer.endMessage(start);
  return Buffer.from(writer.bytes.subarray(0, writer.length));
}

/** Our table. */
const tableOf = (sequence: number, flags = 0): Buffer =>
  told(NEWTABLE, sequence, (writer) => TABLE.write(writer, { name: 'kube-proxy', flags }));
/** A rule of a chain of ours, in a dump. */
const ruleOf = (chain: string, sequence: number): Buffer =>
  told(NEWRULE, sequence, (writer) => RULE.write(writer, { table: 'kube-proxy', chain }));

describe('a commit', () => {
  it('succeeded when the kernel is silent', async () => {
    const { libc, transport } = open();
    await transport.commit('IPv4', [DELETE]);
    await transport.commit('IPv4', []);
    expect(libc.sent.length).toBe(1);
  });

  it('failed when replies were lost, even if none was left to tell why', async () => {
    const { libc, transport } = open();
    libc.incoming = [ENOBUFS];
    await expect(transport.commit('IPv4', [DELETE])).rejects.toMatchObject({
      isTemporary: true,
      failures: [{ reason: 'ENOBUFS: the reply was lost' }],
    });
    libc.incoming = [ENOBUFS, errorMessage(5, ENOENT)];
    await expect(transport.commit('IPv4', [DELETE])).rejects.toMatchObject({
      failures: [{ operation: 0, reason: 'ENOENT' }],
    });
  });

  it('failed as a whole when the kernel names its beginning', async () => {
    const { libc, transport } = open();
    libc.incoming = [errorMessage(1, EBUSY)];
    await expect(transport.commit('IPv6', [DELETE])).rejects.toMatchObject({
      family: 'IPv6',
      failures: [{ reason: 'EBUSY' }],
    });
  });

  it('is not allowed without CAP_NET_ADMIN', async () => {
    const { libc, transport } = open();
    libc.incoming = [errorMessage(1, 1)];
    await expect(transport.commit('IPv4', [DELETE])).rejects.toMatchObject({
      name: 'NetlinkPermissionError',
    });
  });

  it('has the generation that the kernel reports, and none when it changed nothing', async () => {
    const { libc, transport } = open();
    const chain: Operation = { op: 'add-chain', chain: { name: 'a' } };
    libc.incoming = [plainMessage(NEWCHAIN, 2), commitMessage(2, { generation: 77 })];
    expect(await transport.commit('IPv4', [chain, chain])).toBe(77);
    expect(await transport.commit('IPv4', [chain])).toBeUndefined();
    expect(await transport.commit('IPv4', [])).toBeUndefined();
  });

  it('stands when only some of its report was lost', async () => {
    const { libc, transport } = open();
    libc.incoming = [ENOBUFS, plainMessage(NEWRULE, 2), plainMessage(NEWRULE, 2)];
    expect(await transport.commit('IPv4', [{ op: 'flush-chain', chain: 'a' }])).toBeUndefined();
  });

  it('passes over replies to what was sent before', async () => {
    const { libc, transport } = open();
    await transport.commit('IPv4', [DELETE]);
    libc.incoming = [errorMessage(2, ENOENT), commitMessage(2, { generation: 77 })];
    expect(await transport.commit('IPv4', [DELETE])).toBeUndefined();
  });
});

describe('what takes the kernel long', () => {
  it('does not hold up the process', async () => {
    const { libc, transport } = open();
    await transport.commit('IPv4', [{ op: 'delete-chain', chain: 'a' }]);
    expect(libc.sentInBackground.length).toBe(0);
    await transport.commit('IPv4', [{ op: 'delete-set', set: { name: 's', key: [] } }]);
    expect(libc.sentInBackground.length).toBe(1);
  });
});

describe('the socket', () => {
  it('is given up after something unforeseen, and opened again', async () => {
    const { libc, transport } = open();
    libc.incoming = [EAGAIN];
    await expect(transport.generation()).rejects.toThrow('the answer ended early');
    expect(libc.closed).toEqual([5]);
    libc.incoming = [generation(2, 77)];
    expect(await transport.generation()).toBe(77);
    await transport.close();
    await transport.close();
    expect(libc.closed).toEqual([5, 5]);
    await expect(transport.generation()).rejects.toThrow('closed');
  });

  it('stays after a refusal, and serves one call after the other', async () => {
    const { libc, transport } = open();
    libc.incoming = [errorMessage(1, EBUSY), generation(2, 5), generation(3, 6)];
    const calls = [transport.generation(), transport.generation(), transport.generation()];
    await expect(Promise.allSettled(calls)).resolves.toMatchObject([
      { reason: { name: 'NetlinkRequestError', code: 'EBUSY' } },
      { value: 5 },
      { value: 6 },
    ]);
    expect(libc.closed).toEqual([]);
  });
});

describe('a read', () => {
  const EMPTY = { chains: new Map(), sets: new Map(), counters: new Set(), isDormant: false };
  const noCounters = (sequence: number) => plainMessage(DONE, sequence);
  /** Generation, table, chains, rules, sets, generation. */
  const round = (sequence: number, first: number, last: number) => [
    generation(sequence, first),
    tableOf(sequence + 1),
    plainMessage(DONE, sequence + 2),
    plainMessage(DONE, sequence + 3),
    plainMessage(DONE, sequence + 4),
    generation(sequence + 5, last),
  ];

  it('is repeated if another program committed meanwhile', async () => {
    const { libc, transport } = open();
    libc.incoming = [...round(1, 5, 6), ...round(7, 6, 6), noCounters(13)];
    expect(await transport.read('IPv4', [])).toEqual(EMPTY);
  });

  it('tells that the table sleeps, and leaves out chains that belong to a rule', async () => {
    const { libc, transport } = open();
    const [before, , ...rest] = round(1, 5, 5);
    const chainOf = (name: string, flags: number): Buffer =>
      told(NEWCHAIN, 3, (writer) => CHAIN.write(writer, { table: 'kube-proxy', name, flags }));
    libc.incoming = [
      before!,
      tableOf(2, 1),
      chainOf('__chain0', 4),
      chainOf('services', 0),
      ...rest,
      noCounters(7),
    ];
    expect(await transport.read('IPv4', [])).toEqual({
      ...EMPTY,
      isDormant: true,
      chains: new Map([['services', { name: 'services', number: 0, rules: [] }]]),
    });
  });

  it('is repeated when the table went meanwhile', async () => {
    const { libc, transport } = open();
    libc.incoming = [
      ...round(1, 5, 5).slice(0, 4),
      errorMessage(5, ENOENT),
      generation(6, 6),
      errorMessage(7, ENOENT),
    ];
    libc.incoming.push(generation(8, 6));
    expect(await transport.read('IPv4', [])).toBeUndefined();
  });

  it('succeeds even if another program commits all the time', async () => {
    const { libc, transport } = open();
    const rounds = [round(1, 0, 1), round(7, 1, 2), round(13, 2, 3).slice(0, -1)];
    libc.incoming = [...rounds.flat(), noCounters(18)];
    expect(await transport.read('IPv4', [])).toEqual(EMPTY);
  });

  it('is repeated when it has rules of a chain that was passed over', async () => {
    const { libc, transport } = open();
    const [before, table, chains, rules, sets] = round(1, 5, 5);
    const torn = [before!, table!, chains!, ruleOf('pick-2', 4), rules!, sets!];
    libc.incoming = [...torn, ...round(6, 6, 6), noCounters(12)];
    expect(await transport.read('IPv4', [])).toEqual(EMPTY);
  });

  it('gives up when the table goes away every time', async () => {
    const { libc, transport } = open();
    libc.incoming = Array.from({ length: 10 }, (_, index) => [
      ...round(1 + 5 * index, index, index).slice(0, 4),
      errorMessage(5 + 5 * index, ENOENT),
    ]).flat();
    await expect(transport.read('IPv4', [])).rejects.toMatchObject({
      name: 'DisturbedReadError',
      message: expect.stringContaining('table ip kube-proxy') as string,
    });
  });
});
