import { FakeClock } from '../../../src/adapters/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { FloodGuard } from '../../../src/adapters/process/flood-guard.js';
import { PinoLogger } from '../../../src/adapters/process/pino-logger.js';

function open(verbosity: number, format: 'text' | 'json'): { logger: PinoLogger; written: string[] } {
  const written: string[] = [];
  const logger = PinoLogger.open({ verbosity, format, stream: { write: (line) => void written.push(line) } });
  return { logger, written };
}

describe('PinoLogger', () => {
  it('writes one line of text for people', () => {
    const { logger, written } = open(0, 'text');
    logger
      .child({ family: 'IPv4' })
      .warn({ service: 'shop/cart', note: 'two words', ports: [80], n: 2 }, 'left out');
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN {2}left out {2}family=IPv4 {2}service=shop\/cart {2}note="two words" {2}ports=\[80\] {2}n=2\n$/,
    );
  });

  it('shows debug lines from verbosity 2 on', () => {
    for (const verbosity of [0, 1]) {
      const { logger, written } = open(verbosity, 'text');
      logger.debug({}, 'detail');
      expect(written).toEqual([]);
    }
    const { logger, written } = open(2, 'text');
    logger.debug({}, 'detail');
    expect(written).toEqual([expect.stringContaining('DEBUG detail\n')]);
  });

  it('writes JSON with level names and errors in full', () => {
    const { logger, written } = open(0, 'json');
    logger.error({ error: new TypeError('bad') }, 'failed');
    const line = JSON.parse(written[0]!) as Record<string, unknown>;
    expect(line).toMatchObject({
      level: 'error',
      message: 'failed',
      error: { type: 'TypeError', message: 'bad' },
    });
    expect(line['time']).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('shows an error by its message in text, and an error that is already text', () => {
    const { logger, written } = open(0, 'text');
    logger.error({ error: new Error('no such file') }, 'failed');
    logger.error({ error: 'EIO' }, 'failed');
    expect(written[0]).toContain('error="no such file"\n');
    expect(written[1]).toContain('error=EIO\n');
  });

  it('survives hostile facts, on one line', () => {
    const circular: Record<string, unknown> = { big: 10n };
    circular['self'] = circular;
    for (const format of ['text', 'json'] as const) {
      const { logger, written } = open(0, format);
      logger.info(
        { circular, name: 'a\nFAKE LINE\u001b[2J\u009b', time: 'x', level: 'y', message: 'z' },
        'said\nso',
      );
      expect(written).toHaveLength(1);
      if (format === 'text') expect(written[0]!.trimEnd()).not.toMatch(/\p{C}/u);
      else expect(JSON.parse(written[0]!)).toMatchObject({ name: expect.stringContaining('FAKE LINE') });
    }
  });
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
    expect(written).toEqual([expect.stringContaining('DEBUG seen'), expect.stringMatching(/^\{.*as JSON/)]);
  });

  it('sends what is no warning elsewhere with split streams', () => {
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
    const messages = (lines: string[]) => lines.map((line) => line.trim().split(/ +/).at(-1));
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
    const guard = FloodGuard.guard({ logger: log, clock, burst: 2, windowMilliseconds: 1000 });
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
    clock.advance(1000);
    expect(log.lines).toEqual([
      { level: 'warn', message: 'invalid object (more of these)', facts: { withheld: 3 } },
    ]);
    expect(clock.pending).toBe(0);
    guard.warn({}, 'invalid object');
    expect(log.lines).toHaveLength(2);
  });

  it('tells at the end what it withheld', () => {
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
