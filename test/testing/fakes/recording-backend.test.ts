import { RecordingBackend } from '../../../src/testing/fakes/recording-backend.js';
import { forwardService } from '../../../src/domain/forwarding/forward-service.js';
import { service } from '../../support/samples.js';

const NODE = {
  family: 'IPv4',
  detector: undefined,
  masqueradeBit: 14,
  masqueradeAll: false,
  nodePortIPs: 'all',
  serviceCIDRs: [],
} as const;
const entry = (name: string) =>
  forwardService(service({ name }), () => [], {
    family: 'IPv4',
    topology: { nodeName: '', zone: '', nodeHints: false },
    nodeIP: '127.0.0.1',
    externalIPsAllowed: true,
  })[0]!;
const [a, b] = [entry('a'), entry('b')];
const change = (one: typeof a) => ({ key: one.key, entry: one });

describe('RecordingBackend', () => {
  it('programs a table in memory; the same input again writes nothing', async () => {
    const backend = new RecordingBackend();
    expect(await backend.start([a, b], NODE)).toEqual({ written: 2, failed: [] });
    expect((await backend.start([a, b], NODE)).written).toBe(0);
    expect((await backend.apply([change(a)], NODE)).written).toBe(0);
    expect((await backend.apply([{ key: a.key, entry: undefined }], NODE)).written).toBe(1);
    expect([...backend.programmed.values()]).toEqual([b]);
    expect((await backend.start([a], NODE)).written).toBe(2);
    expect([[...backend.programmed.values()], backend.node]).toEqual([[a], NODE]);
    await backend.cleanup();
    await backend.close();
    expect(backend.programmed.size).toBe(0);
    expect(backend.take().map(({ method }) => method)).toEqual([
      'start',
      'start',
      'apply',
      'apply',
      'start',
      'cleanup',
      'close',
    ]);
    expect(backend.take()).toEqual([]);
  });

  it('a poisoned service port keeps what it had, and the others go on', async () => {
    const backend = new RecordingBackend();
    await backend.start([a], NODE);
    backend.poisoned.set(a.key, 'no');
    const other = { ...a };
    expect(await backend.apply([change(other), change(b)], NODE)).toMatchObject({
      written: 1,
      failed: [{ key: a.key, reason: 'no' }],
    });
    expect(backend.programmed.get(a.key)).toBe(a);
    expect((await backend.apply([{ key: a.key, entry: undefined }], NODE)).failed).toHaveLength(1);
    backend.poisoned.clear();
    await backend.apply([{ key: a.key, entry: undefined }], NODE);
    expect([...backend.programmed.keys()]).toEqual([b.key]);
  });

  it('fails as a whole if a test wants it, and then changes nothing', async () => {
    const backend = new RecordingBackend();
    backend.failure = new Error('no');
    await expect(backend.start([a], NODE)).rejects.toThrow('no');
    await expect(backend.verify('quick')).rejects.toThrow('no');
    expect(backend.programmed.size).toBe(0);
  });

  it('finds in a verification what a test gives it', async () => {
    const backend = new RecordingBackend();
    backend.findings.push({ compared: true, written: 2 });
    expect(await backend.verify('full')).toEqual({
      compared: true,
      watched: false,
      written: 2,
      failed: [],
    });
    expect((await backend.verify('quick')).compared).toBe(false);
  });

  it('can be held up', async () => {
    const backend = new RecordingBackend();
    const release = backend.hold();
    let done = false;
    const start = backend.start([a], NODE).then(() => (done = true));
    await new Promise(setImmediate);
    expect(done).toBe(false);
    release();
    await start;
    expect(backend.programmed.size).toBe(1);
  });
});
