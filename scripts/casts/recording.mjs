const COLUMNS = 100;
const ROWS = 30;
const SECONDS_FOR_A_KEY = 0.04;
const SECONDS_FOR_A_LINE = 0.4;

/**
 * What a terminal shows, and when, as asciinema plays it: https://docs.asciinema.org/manual/asciicast/v2/. Its header has no date, so that
 * two recordings of the same are equal.
 */
export class Recording {
  #events = [];
  #now = 0;

  constructor(title) {
    this.title = title;
  }

  pause(seconds) {
    this.#now += seconds;
  }

  /** Text that a program prints; its lines end as on a terminal. */
  print(text) {
    this.#add('o', text.replaceAll(/\r?\n/g, '\r\n'));
  }

  /** A mark in the player's bar. */
  mark(label) {
    this.#add('m', label);
  }

  /** A user types a command. */
  type(command) {
    this.print('$ ');
    this.pause(1);
    for (const key of command) {
      this.print(key);
      this.pause(SECONDS_FOR_A_KEY);
    }
    this.pause(0.5);
    this.print('\n');
  }

  /** A user types a command, and reads its output. */
  command(command, output) {
    this.mark(command);
    this.type(command);
    this.pause(0.2);
    this.print(output);
    this.pause(2 + SECONDS_FOR_A_LINE * output.split('\n').length);
  }

  toString() {
    const { title } = this;
    const env = { TERM: 'xterm-256color', SHELL: '/bin/bash' };
    const header = { version: 2, width: COLUMNS, height: ROWS, idle_time_limit: 8, title, env };
    return [header, ...this.#events].map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  #add(kind, text) {
    this.#events.push([Math.round(this.#now * 100) / 100, kind, text]);
  }
}
