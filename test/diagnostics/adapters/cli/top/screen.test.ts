import { EventEmitter } from 'node:events';
import type { ReadStream, WriteStream } from 'node:tty';
import { Screen } from '../../../../../src/diagnostics/adapters/cli/commands/top.js';

class Keyboard extends EventEmitter {
  isTTY = true;
  raw = false;
  setRawMode(raw: boolean): this {
    this.raw = raw;
    return this;
  }
  setEncoding(): this {
    return this;
  }
  resume(): this {
    return this;
  }
  pause(): this {
    return this;
  }
}

let written: string;
let keyboard: Keyboard;
let screen: Screen;
let ended: number;
beforeEach(() => {
  written = '';
  ended = 0;
  keyboard = new Keyboard();
  const terminal = { rows: 4, columns: 10, write: (text: string) => (written += text) };
  screen = new Screen(keyboard as unknown as ReadStream, terminal as unknown as WriteStream);
});

it('shows what fits, over what was there before', () => {
  screen.show('one\ntwo\n');
  expect(written).toBe('\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J');
  written = '';
  screen.show('a line that is too long\n2\n3\n4\n5\n');
  expect(written).toBe('\x1b[Ha line tha\x1b[K\r\n2\x1b[K\r\n3\x1b[K\r\n…\x1b[K\x1b[J');
});

it.each(['q', 'Q', '\x03', 'xq'])('ends by %j, and leaves the terminal as it was', (keys) => {
  screen.open(() => ended++);
  expect(keyboard.raw).toBe(true);
  keyboard.emit('data', 'x');
  expect(ended).toBe(0);
  keyboard.emit('data', keys);
  expect(ended).toBe(1);
  screen.close();
  expect([keyboard.raw, keyboard.listenerCount('data')]).toEqual([false, 0]);
  expect(written).toBe('\x1b[?1049h\x1b[?25l\x1b[?25h\x1b[?1049l');
});

it('needs no keyboard', () => {
  keyboard.isTTY = false;
  screen.open(() => ended++);
  expect(keyboard.raw).toBe(false);
  screen.close();
});
