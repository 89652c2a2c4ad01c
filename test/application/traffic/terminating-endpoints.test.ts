import {
  OpenConnections,
  TerminatingEndpoints,
} from '../../../src/application/traffic/terminating-endpoints.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { slice, sliceEndpoint } from '../../support/samples.js';
import { CART, FIRST, seenFlow, SECOND } from '../../support/traffic/flows.js';
import { MemoryFlowEvents } from '../../support/traffic/memory-flow-events.js';

const never = new AbortController().signal;

describe('endpoints that terminate', () => {
  const ends = (address: string) => sliceEndpoint(address, { ready: false, terminating: true });

  it('are known with the time of the first slice that reports it', () => {
    const clock = new FakeClock(1_000);
    const terminating = new TerminatingEndpoints(clock);
    terminating.follow(slice('a', [sliceEndpoint('10.1.1.1'), ends('10.1.1.2')]));
    clock.advance(500);
    terminating.follow(slice('a', [ends('10.1.1.1'), ends('10.1.1.2')]));
    terminating.follow(slice('b', [ends('10.1.1.2')]));
    expect(terminating.addresses()).toEqual(new Set(['10.1.1.1', '10.1.1.2']));
    expect(terminating.since('10.1.1.1')).toBe(1_500);
    expect(terminating.since('10.1.1.2')).toBe(1_000);
    expect(terminating.since('10.1.1.3')).toBeUndefined();
  });

  it('are forgotten with their slices, or when they no longer terminate', () => {
    const terminating = new TerminatingEndpoints(new FakeClock(1_000));
    const { namespace } = slice('a', []);
    terminating.follow(slice('a', [ends('10.1.1.1')]));
    terminating.follow(slice('b', [ends('10.1.1.2')]));
    terminating.follow(slice('a', [sliceEndpoint('10.1.1.1')]));
    terminating.forget(namespace, 'b');
    terminating.follow({ ...slice('c', []), ports: [] });
    expect(terminating.addresses()).toEqual(new Set());
  });
});

describe('open connections', () => {
  const first = new Set(['10.244.2.11']);

  it('are those that a Service led to an address, and that are not closed: each once', async () => {
    const flows = new MemoryFlowEvents();
    flows.begin(seenFlow(1));
    flows.begin(seenFlow(2, { replied: true }));
    flows.begin(seenFlow(3, { replied: true, closed: true }));
    flows.begin(seenFlow(4, { replySource: SECOND }));
    flows.begin(seenFlow(5, { protocol: 'UDP' }));
    // Directly to the pod.
    flows.begin(seenFlow(6, { destination: '10.244.2.11', destinationPort: 8080 }));
    flows.begin(seenFlow(7, { replySource: '10.244.2.11:9090' }));
    flows.tracked.set(99, seenFlow(1));
    expect(await new OpenConnections(flows, new FakeClock()).to(first, never)).toEqual({
      counts: new Map([
        [`TCP ${FIRST}`, 2],
        [`UDP ${FIRST}`, 1],
        ['TCP 10.244.2.11:9090', 1],
      ]),
    });
  });

  it('of both families are added up', async () => {
    const flows = new MemoryFlowEvents();
    flows.begin(seenFlow(1));
    flows.begin(seenFlow(2, { family: 'IPv6', destination: 'fd00::1', replySource: '[fd00:1::5]:8080' }));
    const open = new OpenConnections(flows, new FakeClock());
    expect(await open.byFamily(new Set([...first, 'fd00:1::5']), never)).toEqual({ IPv4: 1, IPv6: 1 });
    flows.tracksServices = false;
    expect(await open.byFamily(first, never)).toBeUndefined();
  });

  it('cost nothing for no address', async () => {
    const flows = new MemoryFlowEvents();
    flows.begin(seenFlow(1));
    expect(await new OpenConnections(flows, new FakeClock()).to(new Set(), never)).toEqual({
      counts: new Map(),
    });
    expect(flows.walks).toBe(0);
  });

  it('are read with pauses, where there are many', async () => {
    const clock = new FakeClock();
    const flows = new MemoryFlowEvents();
    flows.foundAtOnce = 1_000;
    for (let id = 1; id <= 5_000; id++) flows.tracked.set(id, seenFlow(id));
    let isDone = false;
    const counting = new OpenConnections(flows, clock).to(first, never).then((result) => {
      isDone = true;
      return result;
    });
    await clock.advanceAsync(4);
    expect(isDone).toBe(false);
    await clock.advanceAsync(100);
    expect(await counting).toEqual({ counts: new Map([[`TCP ${FIRST}`, 5_000]]) });
  });

  it.each([
    ['through IPVS', 'connections through IPVS are not tracked: set net.ipv4.vs.conntrack to 1'],
    ['of a mode without them', 'the proxy carries them'],
    ['after a failure', 'tracked connections cannot be listed: EPERM'],
  ])('%s are not seen', async (why, unseenReason) => {
    const flows = new MemoryFlowEvents();
    flows.begin(seenFlow(1));
    if (why === 'through IPVS') flows.tracksServices = false;
    if (why === 'after a failure') flows.faults.push(new Error('EPERM'));
    const reason = why === 'of a mode without them' ? unseenReason : undefined;
    const open = new OpenConnections(flows, new FakeClock(), reason);
    expect(await open.to(first, never)).toEqual({ unseenReason });
  });

  it('are not read on for a client that has left', async () => {
    const flows = new MemoryFlowEvents();
    flows.begin(seenFlow(1, { destination: CART.address }));
    const left = AbortSignal.abort(new Error('gone'));
    await expect(new OpenConnections(flows, new FakeClock()).to(first, left)).rejects.toThrow('gone');
  });
});
