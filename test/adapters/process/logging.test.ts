import { stripVTControlCharacters } from 'node:util';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { FloodGuard } from '../../../src/adapters/process/flood-guard.js';
import { klogLine, logRecord, PinoLogger, terminalLine } from '../../../src/adapters/process/pino-logger.js';
import {
  jsonText,
  printable,
  printableJson,
  printableLines,
  quote,
} from '../../../src/adapters/process/quote.js';

function open(verbosity: number, format: 'text' | 'json'): { logger: PinoLogger; written: string[] } {
  const written: string[] = [];
  const logger = PinoLogger.open({ verbosity, format, stream: { write: (line) => void written.push(line) } });
  return { logger, written };
}

describe('PinoLogger', () => {
  it('writes text as klog does', () => {
    const { logger, written } = open(0, 'text');
    logger
      .child({ caller: 'sync-loop', family: 'IPv4' })
      .warn(
        { service: 'shop/cart', note: 'two "words"', ports: [80], n: 2, ok: true, o: { a: 'b' } },
        'left out',
      );
    logger.info({}, 'said');
    const head = (severity: string): string =>
      `^${severity}\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{6} ${String(process.pid).padStart(7)} `;
    expect(written).toHaveLength(2);
    expect(written[0]).toMatch(new RegExp(head('W')));
    expect(written[0]!.slice(30)).toBe(
      'sync-loop:1] "left out" family="IPv4" service="shop/cart" note="two \\"words\\"" ports=[80] n=2 ok=true o={"a":"b"}\n',
    );
    expect(written[1]).toMatch(new RegExp(`${head('I')}kube-proxy:1\\] "said"\n$`));
  });

  it('shows the local time and date', () => {
    const time = new Date(2026, 10, 22, 7, 36, 0, 64).getTime();
    expect(klogLine(logRecord('info', time, 'm', {}))).toMatch(/^I1122 07:36:00\.064000 /);
  });

  it('shows debug lines from verbosity 2 on', () => {
    for (const verbosity of [0, 1]) {
      const { logger, written } = open(verbosity, 'text');
      logger.debug({}, 'detail');
      expect(written).toEqual([]);
    }
    const { logger, written } = open(2, 'text');
    logger.debug({}, 'detail');
    expect(written).toEqual([expect.stringMatching(/^I.*\] "detail"\n$/)]);
  });

  it.each([3, 4, 5] as const)('shows lines of verbosity %d from there on, with that number', (verbosity) => {
    const below = open(verbosity - 1, 'text').logger;
    expect([
      below.verbose(verbosity),
      FloodGuard.guard({ logger: below, clock: new FakeClock() }).verbose(verbosity),
    ]).toEqual([undefined, undefined]);
    const { logger, written } = open(verbosity, 'text');
    const guarded = FloodGuard.guard({ logger, clock: new FakeClock() }).child({ caller: 'config' });
    guarded.verbose(verbosity)?.debug({ service: 'shop/cart' }, 'call');
    expect(written).toEqual([expect.stringMatching(/^I.* config:1\] "call" service="shop\/cart"\n$/)]);
    logger.adjust({ format: 'json' });
    guarded.verbose(verbosity)?.debug({}, 'call');
    expect(JSON.parse(written[1]!)).toEqual({
      ...{ level: 'debug', v: verbosity, ts: expect.any(Number) },
      ...{ caller: 'config', msg: 'call' },
    });
  });

  it("writes JSON with component-base's keys", () => {
    const { logger, written } = open(2, 'json');
    const before = Date.now();
    logger.child({ caller: 'sync-loop' }).info({ service: 'shop/cart', ports: [80] }, 'programmed');
    logger.debug({}, 'detail');
    logger.warn({}, 'odd');
    logger.error({ error: 'EIO', attempt: 2 }, 'failed');
    const lines = written.map((line) => JSON.parse(line) as Record<string, unknown>);
    for (const { ts } of lines) expect(Number(ts) - before).toBeLessThan(10_000);
    expect(lines.map(({ ts, ...line }) => [typeof ts, line])).toEqual([
      [
        'number',
        { level: 'info', v: 0, caller: 'sync-loop', service: 'shop/cart', ports: [80], msg: 'programmed' },
      ],
      ['number', { level: 'debug', v: 2, msg: 'detail' }],
      ['number', { level: 'warn', v: 0, msg: 'odd' }],
      ['number', { level: 'error', err: 'EIO', attempt: 2, msg: 'failed' }],
    ]);
  });

  it.each(['text', 'json'] as const)(
    'shows an error by its message, and where it came from at -v 2: %s',
    (format) => {
      const { logger, written } = open(0, format);
      logger.error({ attempt: 1, error: new Error('no such file') }, 'failed');
      expect(written[0]).toContain(
        format === 'text' ? '"failed" err="no such file" attempt=1\n' : '"err":"no such file","attempt":1',
      );
      logger.adjust({ verbosity: 2 });
      logger.error({ error: new Error('no such file') }, 'failed');
      logger.adjust({ verbosity: 0 });
      logger.error({ error: new TypeError('x is undefined') }, 'failed');
      expect(written[2]).toContain('TypeError: x is undefined\\n');
      expect(written[1]).toMatch(/err"?[=:]"no such file".* ?"?stacktrace"?[=:]"Error: no such file\\n +at /);
    },
  );

  it('takes a form for people at a terminal', () => {
    const written: string[] = [];
    const stream = { write: (line: string) => void written.push(line), terminal: true };
    const logger = PinoLogger.open({ verbosity: 0, format: 'text', stream });
    logger.warn(
      { service: 'shop/cart', note: 'two words', error: new Error('no such file'), n: 2 },
      'left out',
    );
    expect(stripVTControlCharacters(written[0]!)).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}left out {2}err="no such file" service=shop\/cart note="two words" n=2\n$/,
    );
    expect(written[0]).toContain('\u001b[33mWARN');
    expect(terminalLine(logRecord('info', 0, 'm', { a: 1 }), false)).toMatch(/ INFO {2}m {2}a=1\n$/);
    logger.adjust({ format: 'json' });
    logger.info({}, 'as JSON');
    expect(written[1]).toMatch(/^\{.*as JSON/);
  });

  it('shows values as JSON has them', () => {
    const { logger, written } = open(0, 'text');
    const facts = {
      at: new Date(0),
      none: null,
      missing: undefined,
      no: () => 1,
      not: NaN,
      deep: { a: undefined, b: [undefined], c: new Error('e') },
    };
    logger.child({ a: 1, b: 'x' }).info({ ...facts, a: 2, error: 'EIO' }, 'said');
    expect(written[0]!.slice(30)).toBe(
      'kube-proxy:1] "said" err="EIO" a=2 b="x" at="1970-01-01T00:00:00.000Z" none=null not=null deep={"b":[null],"c":{}}\n',
    );
  });

  it('survives hostile facts, on one line', () => {
    const circular: Record<string, unknown> = { big: 10n };
    circular['self'] = circular;
    for (const format of ['text', 'json'] as const) {
      const { logger, written } = open(0, format);
      logger.info(
        { circular, name: 'a\nFAKE LINE\u001b[2J\u009b', ts: 'x', level: 'y', msg: 'z' },
        'said\nso',
      );
      expect(written).toHaveLength(1);
      if (format === 'text') expect(written[0]!.trimEnd()).not.toMatch(/\p{C}/u);
      else expect(JSON.parse(written[0]!)).toMatchObject({ name: expect.stringContaining('FAKE LINE') });
    }
  });
});

it("quotes as Go's %q", () => {
  expect(
    quote(`a "b" \\ \n\t\u0007\u001b\u007f\u0085\u00a0é世😀${String.fromCodePoint(0xd800, 0x20, 0xe0001)}`),
  ).toBe('"a \\"b\\" \\\\ \\n\\t\\a\\x1b\\x7f\\u0085\\u00a0é世😀\\ufffd \\U000e0001"');
});

describe('PinoLogger, adjusted', () => {
  it('shows debug lines and the other format from then on, in its children too', () => {
    const { logger, written } = open(0, 'text');
    const child = logger.child({ family: 'IPv4' });
    child.debug({}, 'unseen');
    logger.adjust({ verbosity: 2 });
    child.debug({}, 'seen');
    child.adjust({ format: 'json' });
    logger.info({}, 'as JSON');
    logger.adjust({ verbosity: 0 });
    child.debug({}, 'unseen');
    expect(written).toEqual([expect.stringContaining('"seen"'), expect.stringMatching(/^\{.*as JSON/)]);
  });

  it('sends lines below warning elsewhere with split streams', () => {
    const [errors, information]: [string[], string[]] = [[], []];
    const logger = PinoLogger.open({
      verbosity: 2,
      format: 'text',
      splitStream: true,
      stream: { write: (line) => void errors.push(line) },
      informationStream: { write: (line) => void information.push(line) },
    });
    logger.debug({}, 'one');
    logger.child({}).warn({}, 'two');
    logger.info({}, 'three');
    logger.adjust({ splitStream: false });
    logger.info({}, 'four');
    const messages = (lines: string[]) => lines.map((line) => /"(.*)"/.exec(line)![1]);
    expect([messages(errors), messages(information)]).toEqual([
      ['two', 'four'],
      ['one', 'three'],
    ]);
  });
});

describe('FloodGuard', () => {
  it('lets the first lines of a message pass and counts the rest', () => {
    const clock = new FakeClock();
    const log = new MemoryLogger();
    const guard = FloodGuard.guard({ logger: log, clock, burst: 2 });
    for (let index = 0; index < 5; index += 1) guard.child({ index }).warn({}, 'invalid object');
    guard.error({}, 'invalid object');
    guard.debug({}, 'detail');
    expect(log.lines.map(({ level, facts }) => [level, facts['index']])).toEqual([
      ['warn', 0],
      ['warn', 1],
      ['error', undefined],
      ['debug', undefined],
    ]);
    log.clear();
    clock.advance(60_000);
    expect(log.lines).toEqual([
      { level: 'warn', message: 'invalid object (more of these)', facts: { withheld: 3 } },
    ]);
    expect(clock.pending).toBe(0);
    guard.warn({}, 'invalid object');
    expect(log.lines).toHaveLength(2);
  });

  it('reports at the end what it suppressed', () => {
    const clock = new FakeClock();
    const log = new MemoryLogger();
    const guard = FloodGuard.guard({ logger: log, clock, burst: 1 });
    guard.info({}, 'x');
    guard.info({}, 'x');
    guard.close();
    guard.close();
    expect(log.lines.at(-1)).toEqual({ level: 'info', message: 'x (more of these)', facts: { withheld: 1 } });
    expect(log.lines).toHaveLength(2);
    expect(clock.pending).toBe(0);
  });
});

describe('texts of others', () => {
  // Escape, CSI as one character, the end of a string for a terminal, delete, an override of direction, ends of lines, a tag.
  const hostile = 'a\u001b[2Jb\u009b31mc\u009dd\u007fe\u202ef\u2066g\u2028h\r\ni\tj\u{e0041}k';

  it('cannot control a terminal, nor forge a line', () => {
    expect(printable(hostile)).toBe(
      'a\\x1b[2Jb\\u009b31mc\\u009dd\\x7fe\\u202ef\\u2066g\\u2028h\\r\\ni\\tj\\U000e0041k',
    );
    expect(printable('Zürich → 東京 …')).toBe('Zürich → 東京 …');
  });

  it('leave the lines and tabs of the program', () => {
    expect(printableLines(`one\n\ttwo ${hostile}`)).toMatch(
      /^one\n\ttwo a\\x1b\[2Jb\\u009b31m.*h\\x0d\ni\tj\\U000e0041k$/,
    );
  });

  it('mean the same in JSON', () => {
    const json = printableJson(JSON.stringify({ hostile }, undefined, 2));
    expect(json).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
    expect(JSON.parse(json)).toEqual({ hostile });
    expect(JSON.parse(jsonText({ hostile }))).toEqual({ hostile });
  });

  it('cannot do so in the log, as text or as JSON', () => {
    for (const format of ['text', 'json'] as const) {
      const { logger, written } = open(0, format);
      logger.warn({ zone: hostile, error: new Error(hostile) }, hostile);
      expect(written.join('')).not.toMatch(/[^\P{C}\n]|\n./u);
    }
    expect(terminalLine(logRecord('info', 0, hostile, { zone: hostile }), false)).not.toMatch(
      /[^\P{C}\n]|\n./u,
    );
  });
});
