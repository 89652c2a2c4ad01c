import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { ScriptedSource } from '../../../src/testing/fakes/scripted-source.js';
import type { SourceStatus } from '../../../src/application/ports/cluster-source.js';
import { awaitLists, LISTING_TIMEOUT } from '../../../src/application/use-cases/await-lists.js';

let clock: FakeClock;
let source: ScriptedSource;
let outcome: string | undefined;

const status = (kind: SourceStatus['kind'], more: Partial<SourceStatus> = {}): SourceStatus => ({
  kind,
  state: 'listing',
  synced: false,
  connected: false,
  objects: 0,
  ...more,
});

beforeEach(() => {
  clock = new FakeClock(1_000_000);
  source = new ScriptedSource();
  outcome = undefined;
});

function begin(...statuses: SourceStatus[]): void {
  source.statuses = statuses;
  awaitLists(source, LISTING_TIMEOUT, clock).then(
    () => (outcome = 'listed'),
    (error: Error) => (outcome = error.message),
  );
}

describe('waiting for the lists', () => {
  it('ends at once where nothing is listed', async () => {
    begin();
    await clock.advanceAsync(0);
    expect(outcome).toBe('listed');
  });

  it('ends when all are there', async () => {
    begin(status('Service'), status('Node', { synced: true }));
    await clock.advanceAsync(30_000);
    expect(outcome).toBeUndefined();
    source.statuses = [status('Service', { synced: true })];
    await clock.advanceAsync(1_000);
    expect(outcome).toBe('listed');
    expect(clock.pending).toBe(0);
  });

  it('gives up after a minute without data, and reports the kinds and the reasons', async () => {
    begin(
      status('Service', { failure: 'refused' }),
      status('EndpointSlice'),
      status('Node', { synced: true }),
    );
    await clock.advanceAsync(59_000);
    expect(outcome).toBeUndefined();
    await clock.advanceAsync(1_000);
    expect(outcome).toMatch(
      /^no data from the API server for 60 s, and these are not listed yet: Service \(refused\); EndpointSlice \(no response\)/,
    );
    expect(clock.pending).toBe(0);
  });

  it('continues as long as data arrives', async () => {
    begin(status('Service'));
    await clock.advanceAsync(50_000);
    source.statuses = [status('Service', { lastActivity: clock.now() })];
    await clock.advanceAsync(59_000);
    expect(outcome).toBeUndefined();
    await clock.advanceAsync(1_000);
    expect(outcome).toMatch(/Service \(no response\)/);
  });
});
