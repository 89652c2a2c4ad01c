import type { ServerResponse } from 'node:http';
import type { HeapProfiler, Profiler as CpuProfiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  Function as ProfiledFunction,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
} from 'pprof-format';
import { getOrMake, grouped } from '../../domain/model/maps.js';
import { NamedError } from '../../domain/model/named-error.js';
import { collectGarbage } from '../process/own-process.js';
import { clientLeft, HTML_TYPE, respond, TEXT_TYPE, type Query, type Routes } from './router.js';

const compress = promisify(gzip);
const BINARY = 'application/octet-stream';
const DEFAULT_SECONDS = 30;

const LISTED = {
  cmdline: 'the command line',
  goroutine: 'active resources: sockets, timers, requests and processes that the event loop waits for',
  heap: 'live objects on the heap, by allocation site; ?gc=1 collects garbage first',
  profile: 'CPU profile; ?seconds= sets the duration',
  symbol: 'unused: profiles contain function names',
};

/**
 * `/debug/pprof`: profiles that `go tool pprof` reads (docs/internals/spec/server.md §9). There is no Go runtime, so there is no `trace`.
 */
export function pprofRoutes(profiler: Profiler): Routes {
  return {
    '/debug/pprof': (_, response) => {
      response.writeHead(302, { Location: '/debug/pprof/' });
      response.end();
    },
    '/debug/pprof/': ({ path }, response) => {
      if (path === '/debug/pprof/') return respond(response, 200, HTML_TYPE, index());
      const name = path.slice('/debug/pprof/'.length);
      respond(response, 404, TEXT_TYPE, `Unknown profile: ${JSON.stringify(name)}\n`);
    },
    '/debug/pprof/cmdline': (_, response) => respond(response, 200, TEXT_TYPE, process.argv.join('\0')),
    '/debug/pprof/symbol': (_, response) => respond(response, 200, TEXT_TYPE, 'num_symbols: 1\n'),
    '/debug/pprof/profile': (query, response) => answerCpu(profiler, query, response),
    '/debug/pprof/heap': async ({ parameters }, response) =>
      sendProfile(response, 'heap', await profiler.heap(Number(parameters.get('gc')) > 0)),
    '/debug/pprof/goroutine': ({ parameters }, response) => {
      const counts = activeResources();
      if (!(Number(parameters.get('debug')) > 0))
        return sendProfile(response, 'goroutine', countProfile(counts));
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const lines = [...counts].map(([name, count]) => `${count} @\n#\t${name}\n`);
      respond(response, 200, TEXT_TYPE, `goroutine profile: total ${total}\n${lines.join('\n')}`);
    },
  };
}

/** As in Go: a hundred times per second, and every 512 KiB. */
const CPU_INTERVAL_MICROSECONDS = 10_000;
const HEAP_INTERVAL_BYTES = 512 * 1024;

/** Another CPU profile is being taken. */
class ProfilerBusyError extends NamedError {
  constructor() {
    super('Could not enable CPU profiling: cpu profiling already in use');
  }
}

/**
 * Takes profiles of this process in pprof's format, uncompressed. Allocations are sampled from `start` on, which costs almost
 * nothing; the CPU is sampled only while a CPU profile is taken.
 */
export class Profiler {
  private readonly session = new Session();
  private started = 0;
  private busy = false;

  /** Heap profiles do not contain earlier allocations. */
  async start(): Promise<void> {
    this.session.connect();
    this.started = Date.now();
    await this.session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
  }

  /** Idempotent. */
  stop(): void {
    this.session.disconnect();
  }

  /** A CPU profile of this many seconds. Rejects with ProfilerBusyError; ends early when the signal is aborted. */
  async cpu(seconds: number, signal: AbortSignal): Promise<Uint8Array> {
    if (this.busy) throw new ProfilerBusyError();
    this.busy = true;
    try {
      const started = Date.now();
      await this.session.post('Profiler.enable');
      await this.session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_MICROSECONDS });
      await this.session.post('Profiler.start');
      await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
      const { profile } = await this.session.post('Profiler.stop');
      return cpuProfile(profile, CPU_INTERVAL_MICROSECONDS, started);
    } finally {
      this.busy = false;
    }
  }

  /**
   * A profile of live objects on the heap, by allocation site.
   * @param collectFirst collect garbage first
   */
  async heap(collectFirst: boolean): Promise<Uint8Array> {
    if (collectFirst) await collectGarbage();
    const { profile } = await this.session.post('HeapProfiler.getSamplingProfile');
    return heapProfile(profile, HEAP_INTERVAL_BYTES, this.started);
  }
}

async function answerCpu(profiler: Profiler, { parameters }: Query, response: ServerResponse): Promise<void> {
  const asked = parameters.get('seconds') ?? '';
  const seconds = /^\d{1,4}$/.test(asked) && Number(asked) > 0 ? Number(asked) : DEFAULT_SECONDS;
  try {
    await sendProfile(response, 'profile', await profiler.cpu(seconds, clientLeft(response)));
  } catch (error) {
    if (!(error instanceof ProfilerBusyError)) throw error;
    respond(response, 500, TEXT_TYPE, `${error.message}\n`);
  }
}

async function sendProfile(response: ServerResponse, name: string, profile: Uint8Array): Promise<void> {
  const body = await compress(profile);
  response.setHeader('Content-Disposition', `attachment; filename="${name}"`);
  respond(response, 200, BINARY, body);
}

function activeResources(): ReadonlyMap<string, number> {
  const byName = grouped(process.getActiveResourcesInfo(), (name) => name);
  return new Map([...byName].map(([name, { length }]) => [name, length]));
}

function countProfile(counts: ReadonlyMap<string, number>): Uint8Array {
  const builder = new ProfileBuilder([{ type: 'goroutine', unit: 'count' }]);
  for (const [name, count] of counts) builder.add([{ functionName: name, url: '', lineNumber: -1 }], [count]);
  return builder.build(1, Date.now(), 0);
}

function index(): string {
  const rows = Object.entries(LISTED).map(
    ([name, what]) => `<li><a href="${name}">${name}</a>: ${what}</li>`,
  );
  return `<html><head><title>/debug/pprof/</title></head><body><p>/debug/pprof/</p><ul>${rows.join('')}</ul></body></html>\n`;
}

/** V8's name for idle time. */
const IDLE = '(idle)';
const ROOT = '(root)';

/**
 * Converts V8's CPU profile to pprof's format: for each stack, the number of samples and the time.
 * @param interval between samples, in microseconds
 * @param started milliseconds since the epoch
 */
function cpuProfile(profile: CpuProfiler.Profile, interval: number, started: number): Uint8Array {
  const builder = new ProfileBuilder([
    { type: 'samples', unit: 'count' },
    { type: 'cpu', unit: 'nanoseconds' },
  ]);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const samples = new Map<number, { count: number; microseconds: number }>();
  profile.samples?.forEach((id, index) => {
    const tally = samples.get(id) ?? { count: 0, microseconds: 0 };
    tally.count++;
    // A sample's own delta is the time since the previous sample, so its duration is the next delta.
    tally.microseconds += Math.max(0, profile.timeDeltas?.[index + 1] ?? interval);
    samples.set(id, tally);
  });
  for (const [id, { count, microseconds }] of samples) {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.callFrame;
      if (frame && frame.functionName !== ROOT) stack.push(frame);
    }
    if (stack[0] && stack[0].functionName !== IDLE) builder.add(stack, [count, microseconds * 1000]);
  }
  return builder.build(interval * 1000, started, (profile.endTime - profile.startTime) / 1000);
}

/**
 * Converts V8's sampling heap profile to pprof's format: for each stack, the allocated bytes that are still in use.
 * @param interval between samples, in bytes
 * @param started milliseconds since the epoch
 */
function heapProfile(
  profile: HeapProfiler.SamplingHeapProfile,
  interval: number,
  started: number,
): Uint8Array {
  const builder = new ProfileBuilder([{ type: 'inuse_space', unit: 'bytes' }]);
  const walk = (node: HeapProfiler.SamplingHeapProfileNode, callers: readonly Frame[]): void => {
    const stack = [node.callFrame, ...callers];
    if (node.selfSize > 0) builder.add(stack, [node.selfSize]);
    for (const child of node.children) walk(child, stack);
  };
  for (const node of profile.head.children) walk(node, []);
  return builder.build(interval, started, Date.now() - started);
}

/** A place in the program, as in the inspector. Lines count from 0; -1 for code outside the program. */
interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** The meaning of a sample's value: `cpu`, `nanoseconds`. */
interface Meaning {
  readonly type: string;
  readonly unit: string;
}

/** Builds a profile in pprof's format from stacks and their values. Equal functions and places are written once. */
class ProfileBuilder {
  private readonly strings = new StringTable();
  private readonly functions: ProfiledFunction[] = [];
  private readonly locations: Location[] = [];
  private readonly samples: Sample[] = [];
  private readonly ids = new Map<string, number>();

  constructor(private readonly meanings: readonly Meaning[]) {}

  /**
   * @param stack the innermost frame first
   * @param values one for each meaning
   */
  add(stack: readonly Frame[], values: readonly number[]): void {
    const locationId = stack.map((frame) => this.idOf(frame));
    this.samples.push(new Sample({ locationId, value: [...values] }));
  }

  /**
   * @param period between samples, in the unit of the last meaning
   * @param started milliseconds since the epoch
   * @param lasted milliseconds
   */
  build(period: number, started: number, lasted: number): Uint8Array {
    const types = this.meanings.map((meaning) => this.valueType(meaning));
    const last = this.meanings.at(-1)!;
    return new Profile({
      sampleType: types,
      sample: this.samples,
      location: this.locations,
      function: this.functions,
      stringTable: this.strings,
      timeNanos: BigInt(Math.round(started)) * 1_000_000n,
      durationNanos: BigInt(Math.round(lasted)) * 1_000_000n,
      periodType: this.valueType(last),
      period,
      defaultSampleType: this.strings.dedup(last.type),
    }).encode();
  }

  private valueType({ type, unit }: Meaning): ValueType {
    return new ValueType({ type: this.strings.dedup(type), unit: this.strings.dedup(unit) });
  }

  /** The number of a frame's place and function: V8 reports of a frame where its function begins. */
  private idOf({ functionName, url, lineNumber }: Frame): number {
    const name = functionName || '(anonymous)';
    return getOrMake(this.ids, `${name} ${url} ${lineNumber}`, () => {
      const id = this.functions.length + 1;
      const line = lineNumber + 1;
      const text = this.strings.dedup(name);
      const filename = this.strings.dedup(url);
      this.functions.push(
        new ProfiledFunction({ id, name: text, systemName: text, filename, startLine: line }),
      );
      this.locations.push(new Location({ id, line: [new Line({ functionId: id, line })] }));
      return id;
    });
  }
}
