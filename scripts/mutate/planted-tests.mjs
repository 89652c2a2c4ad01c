import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./test-process.mjs', import.meta.url));
const NODE_OPTIONS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
/** Not needed by tests, or regenerated; node_modules is linked. */
const LEFT_OUT = ['.git', 'node_modules', 'dist', 'lib', 'build'];
/** Jest keeps something of every file it has run: beyond this, a new process continues. */
const MOST_BYTES = 1.5e9;

/** The tests in a copy of the sources that has other texts for some files. The checkout is not changed. */
export class PlantedTests {
  #folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  #process = undefined;
  #texts;
  #variants;

  /**
   * @param texts of all runs: [path, text]
   * @param variants the texts of files that are other ones while some faults are active
   */
  constructor(texts, variants = () => []) {
    this.#texts = new Map(texts);
    this.#variants = variants;
    const isCopied = (path) => !LEFT_OUT.includes(path);
    cpSync('.', this.#folder, { recursive: true, filter: isCopied });
    for (const [path, text] of texts) this.#write(path, text);
    symlinkSync(resolve('node_modules'), join(this.#folder, 'node_modules'));
  }

  /** Runs one test file with some faults awake, or none. Undefined if it takes more processor time than it may. */
  async run(test, faults, limitMs) {
    const variants = this.#variants(faults);
    for (const [path, text] of variants) this.#write(path, text);
    try {
      return await this.#run(test, faults, limitMs);
    } finally {
      for (const [path] of variants) this.#write(path, this.#texts.get(path));
    }
  }

  async #run(test, faults, limitMs) {
    this.#process ??= fork(PROGRAM, {
      cwd: this.#folder,
      execArgv: NODE_OPTIONS,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: this.#environment(),
    });
    this.#process.send({ test, awake: faults.map(({ number }) => number) });
    const { pid } = this.#process;
    const latest = processorMilliseconds(pid) + limitMs;
    const watch = setInterval(() => processorMilliseconds(pid) > latest && this.#end(), 500);
    const ended = new AbortController();
    const { signal } = ended;
    const answer = await Promise.race([
      once(this.#process, 'message', { signal }).then(([message]) => message),
      once(this.#process, 'exit', { signal }).then(() => undefined),
    ]);
    clearInterval(watch);
    ended.abort();
    if (answer === undefined || answer.bytes > MOST_BYTES) this.#end();
    return answer;
  }

  remove() {
    this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(path, text) {
    writeFileSync(join(this.#folder, path), text);
  }

  #environment() {
    return { ...process.env, TMPDIR: this.#folder, NODE_ENV: 'test' };
  }

  #end() {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
  }
}

/** What the process has used so far. On a busy machine that says more of an endless loop than the time of day. */
function processorMilliseconds(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15);
  return 10 * (Number(user) + Number(system));
}
