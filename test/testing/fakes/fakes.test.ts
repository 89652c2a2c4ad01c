import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { RecordingSink } from '../../../src/testing/fakes/recording-sink.js';
import { ScriptedSource } from '../../../src/testing/fakes/scripted-source.js';

describe('FakeClock', () => {
  it('fires timers in order at their own time, those made on the way included', () => {
    const clock = new FakeClock(100);
    const fired: [string, number][] = [];
    const note = (name: string) => (): void => void fired.push([name, clock.now()]);
    clock.after(20, note('b'));
    clock.after(10, () => {
      note('a')();
      clock.after(5, note('inner'));
    });
    clock.after(15, note('cancelled')).cancel();
    clock.after(31, note('later'));
    clock.advance(30);
    expect(fired).toEqual([
      ['a', 110],
      ['inner', 115],
      ['b', 120],
    ]);
    expect([clock.now(), clock.pending]).toEqual([130, 1]);
  });
});

describe('ScriptedSource', () => {
  it('delivers its script at the start, then at once, and nothing after the end', async () => {
    const sink = new RecordingSink();
    const source = new ScriptedSource()
      .apply('Service', { metadata: { namespace: 'a', name: 'b' } })
      .synced('Service');
    expect(sink.calls).toEqual([]);
    const controller = new AbortController();
    await source.start(sink, controller.signal);
    expect(sink.take()).toEqual(['applied Service a/b', 'synced Service']);
    source.delete('Service', { namespace: 'a', name: 'b' });
    expect(sink.take()).toEqual(['deleted Service a/b']);
    expect(sink.objects.size).toBe(0);
    controller.abort();
    source.synced();
    expect([sink.calls, source.running]).toEqual([[], false]);
  });

  it('fails to start if a test wants it', async () => {
    const source = new ScriptedSource(new Error('no API server'));
    await expect(source.start(new RecordingSink(), new AbortController().signal)).rejects.toThrow(
      'no API server',
    );
  });
});
