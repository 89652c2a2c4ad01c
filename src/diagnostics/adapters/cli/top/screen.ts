import { cutLine, written } from '../output/tones.js';
import type { ReadStream, WriteStream } from 'node:tty';

const OTHER_SCREEN = '\x1b[?1049h\x1b[?25l';
const FORMER_SCREEN = '\x1b[?25h\x1b[?1049l';
const HOME = '\x1b[H';
const TO_END_OF_LINE = '\x1b[K';
const TO_END = '\x1b[J';
/** Ctrl-C, and what a terminal sends for it while it passes on every key. */
const END_KEYS = ['q', 'Q', '\x03'];
const USUAL_ROWS = 24;

/** A terminal that shows one text at a time, and a user who ends that by `q` or Ctrl-C. Leaves the terminal as it was. */
export class Screen {
  private onKey: ((keys: string) => void) | undefined;

  constructor(
    private readonly keyboard: ReadStream,
    private readonly terminal: WriteStream,
  ) {}

  get rows(): number {
    return this.terminal.rows || USUAL_ROWS;
  }

  open(onEnd: () => void): void {
    this.terminal.write(OTHER_SCREEN);
    if (!this.keyboard.isTTY) return;
    this.onKey = (keys) => {
      if (END_KEYS.some((key) => keys.includes(key))) onEnd();
    };
    this.keyboard.setRawMode(true);
    this.keyboard.setEncoding('utf8').on('data', this.onKey).resume();
  }

  /** Lines that do not fit are left out, as are the ends of long ones. */
  show(text: string): void {
    const { columns } = this.terminal;
    const lines = text.trimEnd().split('\n');
    const fitting = lines.length > this.rows ? [...lines.slice(0, this.rows - 1), '…'] : lines;
    const shown = fitting.map((line) => written(cutLine(line, columns)) + TO_END_OF_LINE);
    this.terminal.write(HOME + shown.join('\r\n') + TO_END);
  }

  /** Idempotent. */
  close(): void {
    this.terminal.write(FORMER_SCREEN);
    if (!this.onKey) return;
    this.keyboard.off('data', this.onKey).pause();
    this.keyboard.setRawMode(false);
    this.onKey = undefined;
  }
}
