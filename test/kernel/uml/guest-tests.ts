import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../support/program/bundle.js';
import { Guest, type GuestEnd, type GuestOptions } from './guest.js';

const reporter = fileURLToPath(new URL('./reporter.mjs', import.meta.url));
const EVENTS = 'events.jsonl';

/** What became of one test in a guest. */
export interface GuestTest {
  /** The names of the suites around it, and its own. */
  readonly path: readonly string[];
  readonly milliseconds: number;
  /** What was thrown, when it failed. */
  readonly error?: string;
}

type Event =
  | { readonly type: 'run'; readonly name: string }
  | { readonly type: 'start'; readonly name: string; readonly nesting: number }
  | {
      readonly type: 'end';
      readonly name: string;
      readonly nesting: number;
      readonly suite: boolean;
      readonly milliseconds: number;
      readonly failureType?: string;
      readonly error?: string;
    }
  | { readonly type: 'complete' };

/** A guest has one processor: threads of V8 that work beside the others only cost it. */
const ONE_PROCESSOR = { NODE_OPTIONS: '--v8-pool-size=0' };

/** A program of `node:test` tests, to be run in a guest of its own. */
export interface GuestProgram extends GuestOptions {
  /** Its TypeScript file. */
  readonly source: URL;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs programs, each in a guest of its own, and makes each of their tests one of jest's. To be awaited at the top of a test file. One
 * at a time: a guest keeps a processor busy, and what waits for answers beside it needs the other. A guest that hangs, crashes or
 * cannot be started is a failed test that shows its console.
 */
export async function declareGuestTests(programs: readonly GuestProgram[]): Promise<void> {
  const results: GuestTest[] = [];
  for (const program of programs) results.push(...(await runInGuest(program)));
  declare(results);
}

async function runInGuest({
  source,
  environment = {},
  ...options
}: GuestProgram): Promise<readonly GuestTest[]> {
  const guest = await Guest.make();
  try {
    await bundle(source, join(guest.folder, 'program.mjs'));
    const command = [
      ...[
        'env',
        `--chdir=${process.cwd()}`,
        ...Object.entries({ ...ONE_PROCESSOR, ...environment }).map(([name, value]) => `${name}=${value}`),
      ],
      ...[process.execPath, '--test-reporter', reporter],
      ...['--test-reporter-destination', `/exchange/${EVENTS}`],
      '/exchange/program.mjs',
    ];
    const end = await guest.run(command, EVENTS, options);
    const events = await readFile(join(guest.folder, EVENTS), 'utf8').catch(() => '');
    return resultsOf(events, end);
  } finally {
    await guest.remove();
  }
}

/** The tests that a guest has told of, and one more for the guest itself when it did not come to its end. */
export function resultsOf(lines: string, end: GuestEnd): readonly GuestTest[] {
  const results: GuestTest[] = [];
  const path: string[] = [];
  let running: string | undefined;
  let complete = false;
  // A guest that was cut off may have left half a line.
  for (const line of lines.split('\n').slice(0, -1)) {
    const event = JSON.parse(line) as Event;
    if (event.type === 'complete') complete = true;
    else if (event.type === 'run') running = event.name;
    else path.splice(event.nesting, Infinity, event.name);
    if (event.type !== 'end') continue;
    const { suite, milliseconds, failureType, error } = event;
    if (suite && (error === undefined || failureType === 'subtestsFailed')) continue;
    results.push({ path: [...path], milliseconds, ...(error !== undefined && { error }) });
  }
  const failed = results.some(({ error }) => error !== undefined);
  if (complete && (end.exitStatus === 0 || failed)) return results;
  const reason =
    end.problem ?? (end.exitStatus === undefined ? 'it crashed' : `exit status ${end.exitStatus}`);
  const last = running === undefined ? 'before its first test' : `in or after "${running}"`;
  const error = `the guest ended early, ${last}: ${reason}\n${end.console}`;
  return [...results, { path: ['the guest comes to its end'], milliseconds: 0, error }];
}

function declare(results: readonly GuestTest[], depth = 0): void {
  const groups = new Map<string, GuestTest[]>();
  for (const result of results) {
    const { path, error } = result;
    if (path.length > depth + 1) {
      const group = groups.get(path[depth]!);
      if (group) group.push(result);
      else groups.set(path[depth]!, [result]);
    } else
      it(path[depth]!, () => {
        if (error !== undefined) throw new GuestTestFailure(error);
      });
  }
  for (const [name, group] of groups) describe(name, () => declare(group, depth + 1));
}

/** What was thrown in the guest, with the stack of there. */
class GuestTestFailure extends Error {
  constructor(thrown: string) {
    super(thrown);
    this.stack = thrown;
  }
}
