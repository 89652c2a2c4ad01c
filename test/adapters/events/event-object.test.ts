import { eventName, eventObject } from '../../../src/adapters/events/event-recorder.js';
import type { ClusterEvent } from '../../../src/application/ports/event-recorder.js';

const starting: ClusterEvent = {
  regarding: { kind: 'Node', namespace: '', name: 'node1' },
  type: 'Normal',
  reason: 'Starting',
  action: 'StartKubeProxy',
  note: '',
};
const failed: ClusterEvent = {
  regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
  type: 'Warning',
  reason: 'FailedToStartServiceHealthcheck',
  action: 'Listen',
  note: 'node node1 failed',
};
const TIME = Date.parse('2026-05-04T10:00:00.123Z');

function sent(object: object): unknown {
  return JSON.parse(JSON.stringify(object));
}

describe('eventObject (docs/internals/spec/server.md §1.5)', () => {
  it('of a Node is in the namespace default', () => {
    expect(sent(eventObject(starting, 'node1.18a', 'kube-proxy-host', TIME))).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'node1.18a', namespace: 'default' },
      eventTime: '2026-05-04T10:00:00.123000Z',
      reportingController: 'kube-proxy',
      reportingInstance: 'kube-proxy-host',
      action: 'StartKubeProxy',
      reason: 'Starting',
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'node1' },
      note: '',
      type: 'Normal',
    });
  });

  it('of a Service is in its namespace, and may be a series', () => {
    const series = { count: 3, lastObserved: TIME + 1000 };
    expect(sent(eventObject(failed, 'cart.1', 'kube-proxy-host', TIME, series))).toMatchObject({
      metadata: { namespace: 'shop' },
      regarding: { kind: 'Service', namespace: 'shop', name: 'cart' },
      series: { count: 3, lastObservedTime: '2026-05-04T10:00:01.123000Z' },
    });
  });

  it.each(['x'.repeat(2000), 'ä'.repeat(1000), '😀'.repeat(400)])(
    'cuts a long note at a character',
    (note) => {
      const { note: cut } = eventObject({ ...failed, note }, 'n', 'i', TIME) as { note: string };
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(1024);
      expect(Buffer.byteLength(cut)).toBeGreaterThan(1015);
      expect(cut).toMatch(new RegExp(`^(${note.slice(0, note.codePointAt(0)! > 0xffff ? 2 : 1)})+…$`, 'u'));
    },
  );
});

describe('eventName', () => {
  it('is the object and the time in nanoseconds, in hexadecimal', () => {
    expect(eventName(starting, 0x18a7b3c4d5e6f708n)).toBe('node1.18a7b3c4d5e6f708');
  });

  it('is random where that would be no valid name', () => {
    const name = 'a'.repeat(250);
    const long = { ...starting, regarding: { ...starting.regarding, name } };
    expect(eventName(long, 0x18a7b3c4d5e6f708n)).toMatch(/^[0-9a-f-]{36}$/);
  });
});
