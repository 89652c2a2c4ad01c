import { HandTime } from '../kernel-under-test.js';
import { Connections, type Target } from './connections.js';
import { IPPROTO, type Tuple } from './ctnetlink.js';

function machine() {
  const time = new HandTime();
  return { time, connections: new Connections(time) };
}

const udp = (client: number): Tuple => ({
  ...{ protocol: IPPROTO.UDP, source: `10.0.${client >> 8}.${client & 255}`, sourcePort: 4000 },
  ...{ destination: '10.96.0.10', destinationPort: 53 },
});
const to = (address: string) => (): Target => ({ address, port: 53 });

describe('connections that packets make', () => {
  it('lead to where the first packet was led, until they are over', () => {
    const { connections, time } = machine();
    expect(connections.open(udp(1), to('10.244.1.5'))).toBeDefined();
    time.pass(20_000);
    const again = connections.open(udp(1), to('10.244.1.6'));
    expect(again!.reply.source).toBe('10.244.1.5');
    time.pass(30_000);
    expect(connections.open(udp(1), to('10.244.1.6'))!.reply.source).toBe('10.244.1.6');
    expect([...connections.list()]).toHaveLength(1);
  });

  it('last longer once both sides have spoken', () => {
    const { connections, time } = machine();
    const flow = connections.open(udp(1), to('10.244.1.5'))!;
    connections.answer(flow);
    connections.answer(flow);
    time.pass(119_000);
    expect(connections.find(udp(1))).toBe(flow);
    time.pass(2_000);
    expect(connections.find(udp(1))).toBeUndefined();
  });

  it('are forgotten soon after they are over, without being asked for', () => {
    const { connections, time } = machine();
    for (let client = 0; client < 100; client++) connections.open(udp(client), to('10.244.1.5'));
    expect(connections.count).toBe(100);
    time.pass(60_000);
    expect(connections.count).toBe(0);
  });

  it('get another port of the client where answers would be mistaken', () => {
    const { connections } = machine();
    const masqueradedAs = '192.0.2.1';
    const one = connections.open(udp(1), to('10.244.1.5'), { masqueradedAs })!;
    const other = connections.open(udp(2), to('10.244.1.5'), { masqueradedAs })!;
    expect([one.reply.destinationPort, other.reply.destinationPort]).toEqual([4000, 4001]);
    expect(connections.find(other.reply)).toBe(other);
  });

  it('are refused by a full table, which gives up those that were never answered', () => {
    const { connections } = machine();
    connections.sysctls.set('nf_conntrack_max', 2);
    const [one, other] = [1, 2].map((client) => connections.open(udp(client), to('10.244.1.5'))!);
    connections.answer(one!);
    connections.answer(one!);
    expect(connections.open(udp(3), to('10.244.1.5'))).toBeDefined();
    expect(connections.find(other!.original)).toBeUndefined();
    const third = connections.find(udp(3))!;
    connections.answer(third);
    connections.answer(third);
    expect(connections.open(udp(4), to('10.244.1.5'))).toBeUndefined();
    expect([connections.count, connections.dropped]).toEqual([2, 1]);
  });
});
