import { drainStatus } from '../../../../../src/diagnostics/adapters/cli/commands/drain-status.js';
import { diff } from '../../../../../src/diagnostics/adapters/cli/commands/diff.js';
import { explain } from '../../../../../src/diagnostics/adapters/cli/commands/explain.js';
import { history } from '../../../../../src/diagnostics/adapters/cli/commands/history.js';
import { services } from '../../../../../src/diagnostics/adapters/cli/commands/services.js';
import { status } from '../../../../../src/diagnostics/adapters/cli/commands/status.js';
import { top } from '../../../../../src/diagnostics/adapters/cli/commands/top.js';
import { trace } from '../../../../../src/diagnostics/adapters/cli/commands/trace.js';
import { MemoryLogger } from '../../../../../src/testing/fakes/memory-logger.js';
import { Served } from '../../../../support/http/served.js';
import { nightly } from '../../../../support/nightly.js';
import { usePrinted } from '../../../../support/program/use-printed.js';
import { printError } from '../../../../../src/adapters/cli/print-error.js';
import { chooseColors } from '../../../../../src/diagnostics/adapters/cli/output.js';
import { withEachTextForged, withoutColors } from './forged-texts.js';
import { wholeAnswers, type AskingName } from './whole-answers.js';
import { parseCommand } from '../../../../support/command-line.js';

const commands = {
  diff,
  'drain-status': drainStatus,
  explain,
  history,
  services,
  status,
  top,
  trace,
} satisfies Record<AskingName, unknown>;

const REPLACEMENTS: readonly unknown[] = [null, [], {}, [null], 1e300, -1, 'x', true, undefined];

/** The value with each of its parts replaced in turn, and itself: by everything at night, otherwise by a third, each part by another one. */
function* hostile(value: unknown, turns = { next: 0 }): Generator<unknown> {
  const turn = turns.next++;
  yield* REPLACEMENTS.filter((_, place) => nightly || place % 3 === turn % 3);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value))
    for (const other of hostile(part, turns))
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
}

let served: Served;
let body: string;

beforeAll(async () => {
  const answer = (_: unknown, response: { end(text: string): unknown }): void => void response.end(body);
  served = await Served.start(Object.fromEntries(wholeAnswers.map(([, , path]) => [path, answer])));
});
afterAll(() => served.stop());
const printed = usePrinted();

/** Runs the command when this is answered, and tells its exit code, or the name of its error. */
function asking(
  name: AskingName,
  args: readonly string[],
  output = 'wide',
): (answer: unknown) => Promise<unknown> {
  const argv = [name, ...args, '-o', output, '--metrics-bind-address', served.address];
  const commandLine = parseCommand(argv, { readFile: () => '', hostname: () => 'node1' });
  const command = commands[name] as (asked: object, logger: object) => Promise<number>;
  return async (answer) => {
    body = JSON.stringify(answer) ?? '';
    Object.assign(printed, { stdout: '', stderr: '' });
    try {
      return await command(commandLine, new MemoryLogger());
    } catch (error) {
      // As the program does.
      printError((error as Error).message);
      return (error as Error).name;
    }
  };
}

it.each(wholeAnswers)(
  '%s %j shows any answer, or says that no proxy gave it',
  async (name, args, _, whole) => {
    const outcome = asking(name, args);
    expect(await outcome(whole)).toEqual(expect.any(Number));
    const seen = new Set<unknown>();
    for (const answer of hostile(whole)) {
      const came = await outcome(answer);
      if (came !== 'QueryError' && typeof came !== 'number')
        throw new Error(`${String(came)} after ${JSON.stringify(answer)}`);
      seen.add(came);
    }
    expect(seen).toContain('QueryError');
  },
);

describe.each(wholeAnswers)('%s %j', (name, args, _, whole) => {
  afterEach(() => chooseColors('never'));

  it.each(['text', 'wide', 'json'])(
    'lets no text of an answer forge a line or control the terminal, in %s',
    async (output) => {
      chooseColors('always');
      const outcome = asking(name, args, output);
      const lines = (): number => printed.stdout.split('\n').length;
      await outcome(whole);
      const usual = lines();
      let shown = 0;
      for (const answer of withEachTextForged(whole)) {
        await outcome(answer);
        const said = withoutColors(printed.stdout + printed.stderr);
        expect(said).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
        if (said.includes('forged')) shown++;
        expect(lines()).toBeLessThanOrEqual(usual);
      }
      expect(shown).toBeGreaterThan(0);
    },
  );
});
