import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { dump } from 'js-yaml';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { until as untilHolds } from '../../support/until.js';
import { WorkBetweenTurns } from '../../support/work-between-turns.js';
import { RecordingSink } from '../../../src/testing/fakes/recording-sink.js';
import { FolderWatch } from '../../../src/adapters/folder-watch.js';
import { ManifestPathError } from '../../../src/adapters/manifests/manifest-files.js';
import { ManifestSource } from '../../../src/adapters/manifests/manifest-source.js';

let folder: string;
let sink: RecordingSink;
let logger: MemoryLogger;
let sources: ManifestSource[];

beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'manifests-'));
  sink = new RecordingSink();
  logger = new MemoryLogger();
  sources = [];
});

afterEach(async () => {
  await Promise.all(sources.map((source) => source.stop()));
  fs.rmSync(folder, { recursive: true, force: true });
  jest.restoreAllMocks();
});

const at = (...names: string[]): string => join(folder, ...names);
const write = (name: string, text: string): void => fs.writeFileSync(at(name), text);
const service = (name: string, clusterIP = '10.0.0.1'): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { clusterIP, ports: [{ port: 80 }] },
});
const json = (...objects: object[]): string => JSON.stringify({ kind: 'List', items: objects });
const address = (name: string): unknown =>
  (sink.objects.get(`Service default/${name}`) as { spec: { clusterIP: string } } | undefined)?.spec
    .clusterIP;

async function until(condition: () => boolean, what: string): Promise<void> {
  // What a source says of itself follows what it delivers.
  await untilHolds(what, () => condition() && !sources.some(({ delivering }) => delivering));
}

/** From now on nothing is looked at unless the system reports a change. */
function onlyWhatIsReported(): void {
  const { next } = FolderWatch.prototype;
  jest.spyOn(FolderWatch.prototype, 'next').mockImplementation(function (
    this: FolderWatch,
    _wait: number,
    signal: AbortSignal,
  ) {
    return next.call(this, 3_600_000, signal);
  });
}

/** Starts a source, waits until it is synced, and forgets the calls so far. */
async function synced(paths: string[] = [folder], watch = true, now?: () => number): Promise<ManifestSource> {
  const source = new ManifestSource({ paths, watch, logger, ...(now && { now }) });
  sources.push(source);
  await source.start(sink, new AbortController().signal);
  await until(() => sink.calls.filter((call) => call.startsWith('synced ')).length === 5, 'synced');
  return source;
}

const errors = (): unknown[] => logger.at('error').map(({ facts, message }) => [message, facts['file']]);

describe('the first pass', () => {
  it('delivers files and folders in order, then synced once for every kind', async () => {
    write(
      'b.yaml',
      'kind: Service\nmetadata: {name: b}\nspec: {ports: [{port: 80}]}\n---\nkind: Node\nmetadata: {name: n1}\n',
    );
    write('a.json', json(service('a')));
    write('c.yml', 'kind: Service\nmetadata: {name: c}\nspec: {ports: [{port: 80}]}\n');
    write('notes.txt', 'kind: Service\nmetadata: {name: no}\nspec: {ports: [{port: 80}]}\n');
    write('.hidden.yaml', 'kind: Service\nmetadata: {name: no}\nspec: {ports: [{port: 80}]}\n');
    fs.mkdirSync(at('deeper.yaml'));
    fs.writeFileSync(
      at('deeper.yaml', 'd.yaml'),
      'kind: Service\nmetadata: {name: no}\nspec: {ports: [{port: 80}]}\n',
    );
    const single = fs.mkdtempSync(join(tmpdir(), 'manifests-'));
    fs.writeFileSync(
      join(single, 'oddly-named'),
      'kind: Service\nmetadata: {name: odd}\nspec: {ports: [{port: 80}]}\n',
    );
    await synced([folder, join(single, 'oddly-named')], false);
    fs.rmSync(single, { recursive: true });
    expect(sink.calls).toEqual([
      'applied Service default/a',
      'applied Service default/b',
      'applied Node /n1',
      'applied Service default/c',
      'applied Service default/odd',
      'synced Service',
      'synced EndpointSlice',
      'synced Endpoints',
      'synced Node',
      'synced ServiceCIDR',
    ]);
    expect(logger.lines).toEqual([]);
  });

  it('rejects a path that does not exist, by name', async () => {
    const source = new ManifestSource({ paths: [folder, at('missing.yaml')], logger });
    const start = source.start(sink, new AbortController().signal);
    await expect(start).rejects.toThrow(ManifestPathError);
    await expect(start).rejects.toThrow(/missing\.yaml.*does not exist/);
    expect(sink.calls).toEqual([]);
  });

  it('reports what cannot be read or parsed, loads the rest and is synced', async () => {
    // Reading it fails with EIO, for root as well.
    fs.symlinkSync('/proc/self/mem', at('a.yaml'));
    fs.symlinkSync('loop.yaml', at('loop.yaml'));
    fs.symlinkSync('nowhere.yaml.gone', at('dangling.yaml'));
    write('b.yaml', 'kind: Service\nmetadata:\n  name: b\n   x: 1\n');
    write(
      'c.yaml',
      'kind: List\nitems:\n- kind: Service\n  metadata: {}\n- kind: Service\n  metadata: {name: c}\n  spec: {ports: [{port: 80}]}\n',
    );
    write('d.yaml', 'a: &a [*a]\nkind: Service\nmetadata: {name: d}\nspec: {ports: [{port: 80}]}\n');
    await synced();
    expect([...sink.objects.keys()]).toEqual(['Service default/c']);
    expect(errors()).toEqual(
      expect.arrayContaining([
        ['cannot read the manifest; keeping its last valid version', at('a.yaml')],
        ['cannot read the manifest; keeping its last valid version', at('loop.yaml')],
        ['cannot parse the manifest', `${at('b.yaml')}:4:5`],
        ['cannot parse the manifest', `${at('d.yaml')}:1`],
        ['ignoring an invalid object in a manifest; keeping its last valid version', `${at('c.yaml')}:4`],
      ]),
    );
    const before = logger.lines.length;
    await delay(1300);
    expect(logger.lines.length).toBe(before);
  });

  it('ignores other kinds with one debug line', async () => {
    write('a.yaml', 'kind: Pod\n---\nkind: Pod\n---\nkind: Deployment\n');
    await synced([folder], false);
    expect(logger.lines).toEqual([
      expect.objectContaining({
        level: 'debug',
        facts: { file: at('a.yaml'), kinds: { Pod: 2, Deployment: 1 } },
      }),
    ]);
  });

  it('follows nothing without watch', async () => {
    write('a.json', json(service('a')));
    await synced([folder], false);
    sink.take();
    write('a.json', json());
    await delay(1300);
    expect(sink.calls).toEqual([]);
  });
});

describe('an edit', () => {
  it('applies only its difference, as soon as it is reported', async () => {
    onlyWhatIsReported();
    write('a.json', json(service('same'), service('changed'), service('dropped')));
    await synced();
    sink.take();
    write('a.json', json(service('same'), service('changed', '10.0.0.2'), service('added')));
    await until(() => sink.calls.length === 3, 'difference');
    expect(sink.take()).toEqual([
      'applied Service default/changed',
      'applied Service default/added',
      'deleted Service default/dropped',
    ]);
    write('a.json', `${json(service('same'), service('changed', '10.0.0.2'), service('added'))}\n\n`);
    await delay(300);
    expect(sink.calls).toEqual([]);
  });

  it('is half delivered from its first object to its last', async () => {
    write('a.json', json(service('kept'), service('dropped')));
    const source = await synced();
    expect(source.delivering).toBe(false);
    const seen: boolean[] = [];
    const look = (): void => void seen.push(source.delivering);
    jest.spyOn(sink, 'applied').mockImplementation(look);
    jest.spyOn(sink, 'deleted').mockImplementation(look);
    write('a.json', json(service('kept', '10.0.0.2'), service('added')));
    await until(() => seen.length === 3, 'difference');
    expect(seen).toEqual([true, true, true]);
  });

  it('follows new files, deleted files and writers that rename', async () => {
    onlyWhatIsReported();
    write('a.json', json(service('a')));
    await synced();
    sink.take();
    write('b.json', json(service('b')));
    await until(() => sink.objects.has('Service default/b'), 'new file');
    write('a.tmp', json(service('a', '10.0.0.9')));
    fs.renameSync(at('a.tmp'), at('a.json'));
    await until(() => address('a') === '10.0.0.9', 'renamed over');
    fs.rmSync(at('b.json'));
    await until(() => !sink.objects.has('Service default/b'), 'deleted file');
    expect(sink.calls).toEqual([
      'applied Service default/b',
      'applied Service default/a',
      'deleted Service default/b',
    ]);
  });

  it('follows a single file, without looking at its neighbours', async () => {
    write('a.yaml', 'kind: Service\nmetadata: {name: a}\nspec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}\n');
    write('b.yaml', 'kind: Service\nmetadata: {name: b}\nspec: {ports: [{port: 80}]}\n');
    await synced([at('a.yaml')]);
    sink.take();
    // As some editors do: away, then anew.
    fs.renameSync(at('a.yaml'), at('a.yaml~'));
    await delay(5);
    write('a.yaml', 'kind: Service\nmetadata: {name: a}\nspec: {clusterIP: 10.0.0.2, ports: [{port: 80}]}\n');
    await until(() => address('a') === '10.0.0.2', 'edit');
    expect(sink.calls).toEqual(['applied Service default/a']);
  });

  it('follows a mounted ConfigMap, whose files change by the swap of one link', async () => {
    onlyWhatIsReported();
    fs.mkdirSync(at('..v1'));
    fs.mkdirSync(at('..v2'));
    fs.writeFileSync(at('..v1', 'a.json'), json(service('a'), service('b')));
    fs.writeFileSync(at('..v2', 'a.json'), json(service('a', '10.0.0.7')));
    fs.symlinkSync('..v1', at('..data'));
    fs.symlinkSync('..data/a.json', at('a.json'));
    await synced();
    sink.take();
    fs.symlinkSync('..v2', at('..data_tmp'));
    fs.renameSync(at('..data_tmp'), at('..data'));
    await until(() => sink.calls.length === 2, 'swap');
    expect(sink.calls).toEqual(['applied Service default/a', 'deleted Service default/b']);
  });

  it('follows a link to elsewhere and a recreated folder by polling', async () => {
    fs.mkdirSync(at('in'));
    fs.mkdirSync(at('out'));
    fs.writeFileSync(at('out', 'a.json'), json(service('a')));
    fs.symlinkSync('../out/a.json', at('in', 'a.json'));
    await synced([at('in')]);
    fs.writeFileSync(at('out', 'a.json'), json(service('a', '10.0.0.3')));
    await until(() => address('a') === '10.0.0.3', 'change behind a link');
    fs.rmSync(at('in'), { recursive: true });
    fs.mkdirSync(at('in'));
    fs.writeFileSync(at('in', 'a.json'), json(service('a')));
    await until(() => address('a') === '10.0.0.1', 'folder made anew');
    onlyWhatIsReported();
    await delay(1200);
    fs.writeFileSync(at('in', 'a.json'), json(service('a', '10.0.0.4')));
    await until(() => address('a') === '10.0.0.4', 'watched again');
  });
});

describe('a file that is wrong', () => {
  it('is reported with line and column, keeps its last valid version, and recovers', async () => {
    write('a.yaml', 'kind: Service\nmetadata: {name: a}\nspec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}\n');
    await synced();
    sink.take();
    write('a.yaml', 'kind: Service\nmetadata: {name: a\nspec: {clusterIP: 10.0.0.2, ports: [{port: 80}]}\n');
    await until(() => logger.at('error').length > 0, 'report');
    expect(errors()).toEqual([
      ['cannot parse the manifest; keeping its last valid version', expect.stringMatching(/a\.yaml:3:\d+$/)],
    ]);
    await delay(1200);
    expect(logger.at('error')).toHaveLength(1);
    expect(sink.calls).toEqual([]);
    write('a.yaml', 'kind: Service\nmetadata: {name: a}\nspec: {clusterIP: 10.0.0.2, ports: [{port: 80}]}\n');
    await until(() => address('a') === '10.0.0.2', 'healed');
  });

  it('refuses duplicate keys', async () => {
    write('a.yaml', 'kind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\nkind: Node\n');
    await synced();
    expect(errors()).toEqual([['cannot parse the manifest', `${at('a.yaml')}:4:1`]]);
  });

  it('is not believed while it is being written', async () => {
    const servicesAt = (ip: string) =>
      json(...Array.from({ length: 50 }, (_, index) => service(`s${index}`, ip)));
    const writeSlowly = async (text: string): Promise<number> => {
      const began = performance.now();
      const file = fs.openSync(at('a.json'), 'w');
      await delay(40);
      fs.writeSync(file, text.slice(0, 1000));
      await delay(40);
      fs.writeSync(file, text.slice(1000));
      fs.closeSync(file);
      return performance.now() - began;
    };
    await synced();
    let took: number;
    // A busy machine may be so slow that the half counts as all of it.
    do {
      write('a.json', servicesAt('10.0.0.4'));
      await until(() => address('s49') === '10.0.0.4', 'another version');
      sink.take();
      logger.clear();
      took = await writeSlowly(servicesAt('10.0.0.5'));
      await until(() => address('s49') === '10.0.0.5', 'whole file');
    } while (took > 95);
    expect(sink.calls.every((call) => call.startsWith('applied '))).toBe(true);
    expect(logger.lines).toEqual([]);
  });

  it.each([
    ['nothing', ''],
    ['comments', '# later\n---\n\n  # more\n'],
  ])('holds %s for a minute before that is believed', async (_, text) => {
    let now = 0;
    write('a.json', json(service('a')));
    const source = await synced([folder], true, () => now);
    sink.take();
    write('a.json', text);
    await until(() => source.problems.length > 0, 'emptied');
    expect(source.problems).toEqual([
      expect.stringMatching(/a\.json: is empty, perhaps because it is being written; /),
    ]);
    now = 59_999;
    await delay(1300);
    expect(sink.calls).toEqual([]);
    expect(logger.at('error')).toHaveLength(1);
    now = 60_000;
    await until(() => sink.calls.length > 0, 'a minute');
    expect(sink.calls).toEqual(['deleted Service default/a']);
    await until(() => source.problems.length === 0, 'report');
  });

  it('may have held objects when it has not a byte at the start', async () => {
    let now = 0;
    write('a.json', '');
    const source = await synced([folder], true, () => now);
    expect(source.problems).toEqual([
      expect.stringMatching(/a\.json: is empty, perhaps because it is being written; /),
    ]);
    now = 60_000;
    await until(() => source.problems.length === 0, 'a minute');
  });

  it('means what it says where it is not followed, or holds comments', async () => {
    write('a.json', '');
    expect((await synced([folder], false)).problems).toEqual([]);
    sink.take();
    write('a.json', '# none');
    expect((await synced([folder])).problems).toEqual([]);
  });

  it('is not believed to be empty if it is filled within the minute, however often', async () => {
    let now = 0;
    write('a.json', json(service('a')));
    const source = await synced([folder], true, () => now);
    for (let time = 1; time <= 2; time++) {
      write('a.json', '');
      await until(() => source.problems.length > 0, 'emptied');
      now += 40_000;
      write('a.json', json(service('a', `10.0.0.${time + 1}`)));
      await until(() => source.problems.length === 0, 'filled');
      expect(address('a')).toBe(`10.0.0.${time + 1}`);
    }
    expect(sink.calls).not.toContain('deleted Service default/a');
  });
});

describe('a given path that disappears', () => {
  it('keeps what its files held: a folder, until it is back', async () => {
    fs.mkdirSync(at('in'));
    for (const name of ['a', 'b']) fs.writeFileSync(at('in', `${name}.json`), json(service(name)));
    const source = await synced([at('in')]);
    sink.take();
    fs.renameSync(at('in'), at('away'));
    await until(() => source.problems.length > 0, 'folder gone');
    expect(source.problems).toEqual([expect.stringContaining(`${at('in')}: ENOENT`)]);
    expect(errors()).toHaveLength(1);
    fs.rmSync(at('away', 'b.json'));
    fs.renameSync(at('away'), at('in'));
    await until(() => sink.calls.length > 0, 'folder back');
    expect(sink.calls).toEqual(['deleted Service default/b']);
    await until(() => source.problems.length === 0, 'report');
  });

  it('keeps it when the folder is removed with its files', async () => {
    onlyWhatIsReported();
    fs.mkdirSync(at('in'));
    fs.writeFileSync(at('in', 'a.json'), json(service('a')));
    await synced([at('in')]);
    sink.take();
    fs.rmSync(at('in'), { recursive: true });
    await delay(400);
    expect(sink.calls).toEqual([]);
  });

  it('keeps it while an empty folder is in its place, as a mount point is', async () => {
    fs.mkdirSync(at('in'));
    fs.writeFileSync(at('in', 'a.json'), json(service('a')));
    const source = await synced([at('in')]);
    sink.take();
    fs.renameSync(at('in'), at('away'));
    fs.mkdirSync(at('in'));
    await until(() => source.problems.some((problem) => problem.includes('and empty')), 'empty folder');
    expect(sink.calls).toEqual([]);
    fs.writeFileSync(at('in', 'b.json'), json(service('b')));
    await until(() => !sink.objects.has('Service default/a'), 'another file');
    await until(() => source.problems.length === 0, 'report');
    // Emptied by hand it is empty.
    fs.rmSync(at('in', 'b.json'));
    await until(() => !sink.objects.has('Service default/b'), 'last file');
    await until(() => source.problems.length === 0, 'report');
  });

  it('keeps what a single file held', async () => {
    write('a.json', json(service('a')));
    const source = await synced([at('a.json')]);
    sink.take();
    fs.rmSync(at('a.json'));
    await until(() => source.problems.length > 0, 'file gone');
    expect(source.problems).toEqual([`${at('a.json')}: no longer exists`]);
    await delay(1300);
    expect(errors()).toHaveLength(1);
    write('a.json', json());
    await until(() => sink.calls.length > 0, 'file back');
    expect(sink.calls).toEqual(['deleted Service default/a']);
    await until(() => source.problems.length === 0, 'report');
  });
});

describe('the same object in two files', () => {
  it('is taken from the later one, reported once, and comes back from the other', async () => {
    write('a.json', json(service('x', '10.0.0.1'), service('y')));
    write('b.json', json(service('x', '10.0.0.2')));
    await synced();
    expect(address('x')).toBe('10.0.0.2');
    expect(logger.at('warn')).toHaveLength(1);
    expect(logger.at('warn')[0]!.facts).toEqual({
      used: at('b.json'),
      unused: at('a.json'),
      objects: ['Service/default/x'],
      count: 1,
    });
    sink.take();
    // The hidden version changes: nothing to deliver, nothing new to report.
    write('a.json', json(service('x', '10.0.0.3'), service('y')));
    await delay(200);
    expect(sink.calls).toEqual([]);
    write('b.json', json(service('z')));
    await until(() => sink.calls.length === 2, 'back to the other');
    expect(sink.calls).toEqual(['applied Service default/z', 'applied Service default/x']);
    expect(address('x')).toBe('10.0.0.3');
    fs.rmSync(at('a.json'));
    await until(() => !sink.objects.has('Service default/x'), 'gone from both');
    expect(logger.at('warn')).toHaveLength(1);
  });

  it('follows the order of the paths, not of the names', async () => {
    write('a.json', json(service('x', '10.0.0.1')));
    write('b.json', json(service('x', '10.0.0.2')));
    await synced([at('b.json'), at('a.json')], false);
    expect(address('x')).toBe('10.0.0.1');
  });

  it('within one file is the first, and the other is a mistake', async () => {
    write('a.json', json(service('x', '10.0.0.1'), service('x', '10.0.0.2')));
    const source = await synced([folder], false);
    expect(address('x')).toBe('10.0.0.1');
    expect(source.problems).toEqual([
      `${at('a.json')}:1: Service default/x: metadata.name: is already used by document 1, item 1; that one is used`,
    ]);
    expect(sink.calls.filter((call) => call.startsWith('applied'))).toHaveLength(1);
  });
});

describe('stop', () => {
  it('ends delivery, twice if need be, and so does the signal', async () => {
    write('a.json', json(service('a')));
    const source = await synced();
    const controller = new AbortController();
    const other = new ManifestSource({ paths: [folder], logger });
    const otherSink = new RecordingSink();
    await other.start(otherSink, controller.signal);
    controller.abort();
    await source.stop();
    await source.stop();
    await other.stop();
    sink.take();
    otherSink.take();
    write('a.json', json());
    await delay(150);
    expect(sink.calls).toEqual([]);
    expect(otherSink.calls).toEqual([]);
    expect(logger.at('error')).toEqual([]);
  });

  it('releases its watches', async () => {
    // The descriptor of the listing itself is gone by the time it is read.
    const infoOf = (name: string): string => {
      try {
        return fs.readFileSync(join('/proc/self/fdinfo', name), 'utf8');
      } catch {
        return '';
      }
    };
    const watches = (): number =>
      fs
        .readdirSync('/proc/self/fdinfo')
        .map(infoOf)
        .join('')
        .match(/^inotify wd/gm)?.length ?? 0;
    const before = watches();
    const source = await synced();
    expect(watches()).toBe(before + 1);
    await source.stop();
    expect(watches()).toBe(before);
  });
});

describe('what is ignored', () => {
  it('is known as long as it lasts, with place and reason', async () => {
    write('a.yaml', json(service('web')));
    write('broken.yaml', 'kind: Service\nmetadata: {name: [web\n\tspec: }\n');
    write('nameless.yaml', 'apiVersion: v1\nkind: Service\nmetadata: {}\n');
    fs.symlinkSync('loop.yaml', at('loop.yaml'));
    const source = await synced();
    const placed = (name: string): string | undefined =>
      source.problems.find((problem) => problem.startsWith(at(name)));
    expect(source.problems).toHaveLength(3);
    expect(placed('broken.yaml')).toMatch(/broken\.yaml:\d+:\d+: ./);
    expect(placed('nameless.yaml')).toMatch(/nameless\.yaml:3: Service \(document 1\): metadata\.name: ./);
    expect(placed('loop.yaml')).toMatch(/loop\.yaml: ELOOP/);

    write('broken.yaml', json(service('mended')));
    fs.rmSync(at('nameless.yaml'));
    fs.rmSync(at('loop.yaml'));
    await until(() => source.problems.length === 0, 'nothing is left out');
    expect(address('mended')).toBe('10.0.0.1');
  });
});

describe('an object that the API server would refuse', () => {
  const yaml = (...specs: string[]): string =>
    specs
      .map(
        (spec, index) =>
          `---\napiVersion: v1\nkind: Service\nmetadata: {name: s${index}}\nspec:\n  ports: [{port: 80}]\n  ${spec}\n`,
      )
      .join('');

  it('is reported from the start, by file, line and field, and used when it is fixed', async () => {
    write('a.yaml', yaml('clusterIP: 10.0.0.1', 'clusterIP: 10.0.0.2\n  sessionAffinity: Cookie'));
    const source = await synced();
    expect([...sink.objects.keys()]).toEqual(['Service default/s0']);
    expect(source.problems).toEqual([
      `${at('a.yaml')}:15: Service default/s1: spec.sessionAffinity: "Cookie" is not one of None, ClientIP`,
    ]);
    expect(logger.at('error').map(({ facts }) => facts)).toEqual([
      {
        file: `${at('a.yaml')}:15`,
        object: 'Service default/s1',
        problem: 'spec.sessionAffinity: "Cookie" is not one of None, ClientIP',
      },
    ]);
    // Another edit of the file does not tell of it again.
    write('a.yaml', yaml('clusterIP: 10.0.0.9', 'clusterIP: 10.0.0.2\n  sessionAffinity: Cookie'));
    await until(() => address('s0') === '10.0.0.9', 'edit');
    expect(logger.at('error')).toHaveLength(1);
    write('a.yaml', yaml('clusterIP: 10.0.0.9', 'clusterIP: 10.0.0.2\n  sessionAffinity: ClientIP'));
    await until(() => address('s1') === '10.0.0.2', 'mended');
    expect(source.problems).toEqual([]);
  });

  it('keeps its last valid version, even if the object is unknown', async () => {
    write('a.yaml', yaml('clusterIP: 10.0.0.1', 'clusterIP: 10.0.0.2'));
    const source = await synced();
    sink.take();
    write('a.yaml', yaml('clusterIP: 10.0.0.3', 'clusterIP: "10.0.0.2; drop"'));
    await until(() => address('s0') === '10.0.0.3', 'the other one');
    write('a.yaml', yaml('clusterIP: 10.0.0.4', 'clusterIP: 10.0.0.2').replace('name: s1', 'nmae: s1'));
    await until(() => address('s0') === '10.0.0.4', 'the other one again');
    expect(source.problems).toEqual([expect.stringMatching(/:11: Service \(document 2\): metadata\.name: /)]);
    expect(sink.take()).toEqual(['applied Service default/s0', 'applied Service default/s0']);
    expect(address('s1')).toBe('10.0.0.2');
    write('a.yaml', yaml('clusterIP: 10.0.0.4'));
    await until(() => !sink.objects.has('Service default/s1'), 'deleted');
    expect(source.problems).toEqual([]);
  });
});

describe('a path that is not a regular file of a reasonable size', () => {
  it('is reported by name, ignored, and blocks nothing', async () => {
    write('b.yaml', 'kind: Service\nmetadata: {name: b}\nspec: {ports: [{port: 80}]}\n');
    execFileSync('mkfifo', [at('a.yaml')]);
    fs.symlinkSync('/dev/zero', at('c.yaml'));
    const server = createServer().listen(at('d.yaml'));
    fs.closeSync(fs.openSync(at('e.json'), 'w'));
    fs.truncateSync(at('e.json'), 32 * 1024 * 1024 + 1);
    const source = await synced();
    server.close();
    expect([...sink.objects.keys()]).toEqual(['Service default/b']);
    expect(source.problems).toEqual([
      `${at('a.yaml')}: is not a regular file; ignoring it`,
      `${at('c.yaml')}: is not a regular file; ignoring it`,
      `${at('d.yaml')}: is not a regular file; ignoring it`,
      `${at('e.json')}: has 33 MiB; the limit is 32 MiB; split it`,
    ]);
    expect(errors().map((error) => (error as string[])[1])).toEqual(
      ['a.yaml', 'c.yaml', 'd.yaml', 'e.json'].map((name) => at(name)),
    );
  });

  it('cannot be the current folder, because of an empty path', async () => {
    const source = new ManifestSource({ paths: [''], logger });
    await expect(source.start(sink, new AbortController().signal)).rejects.toThrow(
      'cannot use the manifest path "": it is empty; use an existing file or folder',
    );
  });
});

describe('a large file', () => {
  const SERVICES = 1_000;
  const slice = (index: number): object => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `s${index}-1`, labels: { 'kubernetes.io/service-name': `s${index}` } },
    addressType: 'IPv4',
    endpoints: Array.from({ length: 5 }, () => ({ addresses: ['10.1.0.1'], conditions: { ready: true } })),
  });
  const objects = Array.from({ length: SERVICES }, (_, index) => [service(`s${index}`), slice(index)]).flat();
  const block = (object: object): string => dump(object, { noRefs: true });

  it.each([
    ['many documents', 'yaml', () => objects.map((object) => `---\n${block(object)}`).join('')],
    ['one list in JSON', 'json', () => json(...objects)],
  ])('lets other work run: %s', async (_, suffix, text) => {
    write(`a.${suffix}`, text());
    const work = new WorkBetweenTurns();
    await synced();
    const { longest, total } = work.end();
    expect(sink.objects.size).toBe(2 * SERVICES);
    expect(longest).toBeLessThan(total / 2);
  });
});
