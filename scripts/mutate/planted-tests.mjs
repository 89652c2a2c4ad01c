import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./test-process.mjs', import.meta.url));
const NODE_OPTIONS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
/** What no test needs, or is made anew; node_modules is linked. */
const LEFT_OUT = ['.git', 'node_modules', 'dist', 'lib', 'build'];
/** Jest keeps something of every file it has run: beyond this, a new process goes on. */
const MOST_BYTES = 1.5e9;

/** The tests in a copy of the sources that has other texts for some files. The checkout stays as it is. */
export class PlantedTests {
  #folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  #process = undefined;

  constructor(texts) {
    const isCopied = (path) => !LEFT_OUT.includes(path);
    cpSync('.', this.#folder, { recursive: true, filter: isCopied });
    for (const [path, text] of texts) writeFileSync(join(this.#folder, path), text);
    symlinkSync(resolve('node_modules'), join(this.#folder, 'node_modules'));
  }

  /** Runs one test file with some faults awake, or none. Undefined if it takes longer than it may: a fault has made it endless. */
  async run(test, faults, limitMs) {
    this.#process ??= fork(PROGRAM, {
      cwd: this.#folder,
      execArgv: NODE_OPTIONS,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: this.#environment(),
    });
    this.#process.send({ test, awake: faults.map(({ number }) => number) });
    const timer = setTimeout(() => this.#end(), limitMs);
    const ended = new AbortController();
    const { signal } = ended;
    const answer = await Promise.race([
      once(this.#process, 'message', { signal }).then(([message]) => message),
      once(this.#process, 'exit', { signal }).then(() => undefined),
    ]);
    clearTimeout(timer);
    ended.abort();
    if (answer === undefined || answer.bytes > MOST_BYTES) this.#end();
    return answer;
  }

  remove() {
    this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #environment() {
    return { ...process.env, TMPDIR: this.#folder, NODE_ENV: 'test' };
  }

  #end() {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }
}
