import { setImmediate } from 'node:timers/promises';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import {
  ADDRESS_OPTIONAL,
  AwaitNode,
  CLUSTER_TIMEOUTS,
  NO_WAIT,
  type NodeTimeouts,
} from '../../../src/application/node/await-node.js';
import type { Node } from '../../../src/domain/model/node.js';
import { parseAddress } from '../../../src/domain/net/address.js';

const SECOND = 1000;
let clock: FakeClock;
let logger: MemoryLogger;
let node: Node | undefined;
let checked: string[];
let mismatch: Error | undefined;

beforeEach(() => {
  clock = new FakeClock();
  logger = new MemoryLogger();
  node = undefined;
  checked = [];
  mismatch = undefined;
});

function made({ podCIDRs = false, timeouts = CLUSTER_TIMEOUTS as NodeTimeouts } = {}) {
  const checks = {
    atStart: () => {
      checked.push('at start');
      if (mismatch) throw mismatch;
    },
    again: () => void checked.push('again'),
  };
  return new AwaitNode('n1', podCIDRs, timeouts, () => node, checks, clock, logger);
}

function waitFor(options: Parameters<typeof made>[0] = {}) {
  const awaitNode = made(options);
  let outcome = 'waiting';
  awaitNode.ready.then(
    () => (outcome = 'ready'),
    (error: Error) => (outcome = error.message),
  );
  const become = (parts: Partial<Node>) => {
    node = { name: 'n1', zone: '', ips: [], podCIDRs: [], draining: false, ...parts };
    awaitNode.changed();
  };
  const after = async (milliseconds: number): Promise<string> => {
    await clock.advanceAsync(milliseconds);
    return outcome;
  };
  return { awaitNode, become, after };
}

const IPS = { ips: [parseAddress('192.0.2.4')!] };
const CIDRS = { podCIDRs: ['10.244.1.0/24'] };

describe('AwaitNode (docs/internals/spec/server.md §2)', () => {
  it('waits for the list however long it takes, and not a moment longer than the Node needs', async () => {
    const { awaitNode, become, after } = waitFor();
    expect(await after(3_600 * SECOND)).toBe('waiting');
    become(IPS);
    expect(await after(0)).toBe('waiting');
    awaitNode.listed();
    expect(await after(0)).toBe('ready');
    expect([checked, logger.lines, clock.pending]).toEqual([['at start'], [], 0]);
  });

  it('waits for a Node that is made a little later, and for its address', async () => {
    const { awaitNode, become, after } = waitFor();
    awaitNode.listed();
    expect(await after(10 * SECOND)).toBe('waiting');
    become({});
    expect(await after(10 * SECOND)).toBe('waiting');
    become(IPS);
    expect(await after(0)).toBe('ready');
    expect([logger.at('error'), clock.pending]).toEqual([[], 0]);
  });

  it.each([
    [undefined, 'the Node object does not exist'],
    [{}, 'the Node object has no address'],
  ])('continues after 30 s, and reports what is missing (%j)', async (form, problem) => {
    const { awaitNode, become, after } = waitFor();
    if (form) become(form);
    awaitNode.listed();
    expect(await after(30 * SECOND - 1)).toBe('waiting');
    expect(await after(1)).toBe('ready');
    expect(logger.at('error')).toMatchObject([{ facts: { node: 'n1', problem } }]);
    become(IPS);
    expect(checked).toEqual(['at start', 'again']);
  });

  it('waits for podCIDRs where they are needed, five minutes more', async () => {
    const { awaitNode, become, after } = waitFor({ podCIDRs: true });
    awaitNode.listed();
    await after(30 * SECOND);
    become(IPS);
    expect(await after(299 * SECOND)).toBe('waiting');
    become({ ...IPS, ...CIDRS });
    expect(await after(0)).toBe('ready');
    expect(clock.pending).toBe(0);
  });

  it.each([
    [undefined, 'timeout waiting for node "n1" to exist', 330],
    [{}, 'timeout waiting for PodCIDR allocation on node "n1"', 330],
    [IPS, 'timeout waiting for PodCIDR allocation on node "n1"', 300],
  ])('gives up without podCIDRs where they are needed (%j)', async (form, message, seconds) => {
    const { awaitNode, become, after } = waitFor({ podCIDRs: true });
    if (form) become(form);
    awaitNode.listed();
    expect(await after(seconds * SECOND - 1)).toBe('waiting');
    expect(await after(1)).toBe(message);
    expect(checked).toEqual([]);
  });

  it('does not wait if nothing creates what is missing', async () => {
    const one = waitFor({ timeouts: NO_WAIT });
    one.awaitNode.listed();
    expect(await one.after(0)).toBe('ready');
    const other = waitFor({ timeouts: NO_WAIT, podCIDRs: true });
    other.awaitNode.listed();
    expect(await other.after(0)).toBe('timeout waiting for node "n1" to exist');
    expect(logger.lines.map(({ level }) => level)).toEqual(['error', 'error']);
  });

  it('checks a Node whose address is optional once it has one', async () => {
    const one = waitFor({ timeouts: ADDRESS_OPTIONAL });
    one.awaitNode.listed();
    expect([await one.after(0), checked, logger.lines]).toEqual(['ready', [], []]);
    one.become({ zone: 'a' });
    expect(checked).toEqual([]);
    one.become(IPS);
    expect(checked).toEqual(['again']);
    const other = waitFor({ timeouts: ADDRESS_OPTIONAL });
    other.awaitNode.listed();
    expect([await other.after(0), checked]).toEqual(['ready', ['again', 'at start']]);
  });

  it('fails when Node and configuration do not go together', async () => {
    mismatch = new Error('no support');
    const { awaitNode, become, after } = waitFor();
    awaitNode.listed();
    become(IPS);
    expect(await after(0)).toBe('no support');
  });

  it('is no error of the process when nobody listens yet', async () => {
    mismatch = new Error('no support');
    const awaitNode = made({ timeouts: NO_WAIT });
    awaitNode.listed();
    await setImmediate();
    await expect(awaitNode.ready).rejects.toThrow('no support');
  });

  it('leaves no timer when it is stopped', async () => {
    const { awaitNode, after } = waitFor();
    awaitNode.listed();
    awaitNode.stop();
    expect([await after(60 * SECOND), clock.pending, logger.at('error')]).toEqual(['waiting', 0, []]);
  });
});
