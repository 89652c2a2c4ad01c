import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./test-process.mjs', import.meta.url));
/** Not needed by tests, or regenerated; node_modules is linked. */
const LEFT_OUT = ['.git', 'node_modules', 'dist', 'lib', 'build'];

/** The time that a test may take, in terms of what it takes without a fault. Beyond that, a fault has made it endless. */
const SLOWEST = { factor: 10, milliseconds: 20_000 };

/** The tests in a copy of the sources that has other texts for some files. The checkout is not changed. */
export class PlantedTests {
  #folder = mkdtempSync(join(tmpdir(), 'mutate-'));
  #child = undefined;
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

  /**
   * Runs test files one after another, with some faults active, or none, until one fails.
   * @param tests each a path, and if known the numbers of the tests that shall run (`only`) and what each takes (`milliseconds`)
   * @param ended called with each file that passes, and what its process answers
   * @returns the file that fails
   */
  async run(tests, faults, ended = () => {}) {
    const variants = this.#variants(faults);
    for (const [path, text] of variants) this.#write(path, text);
    const child = fork(PROGRAM, [faults.map(({ number }) => number).join()], {
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, TMPDIR: this.#folder, NODE_ENV: 'test' },
    });
    this.#child = child;
    const exited = once(child, 'exit').then(() => undefined);
    try {
      await Promise.race([once(child, 'message'), exited]);
      for (const test of tests) {
        const answer = await answerOf(child, exited, test);
        if (answer?.passed !== true) return test;
        ended(test, answer);
      }
      return undefined;
    } finally {
      child.kill('SIGKILL');
      await exited;
      for (const [path] of variants) this.#write(path, this.#texts.get(path));
    }
  }

  remove() {
    this.#child?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(path, text) {
    writeFileSync(join(this.#folder, path), text);
  }
}

/** Undefined if the process exits, or takes too much processor time. */
async function answerOf(child, exited, { path, only, milliseconds }) {
  if (child.exitCode !== null) return undefined;
  const limits = milliseconds?.map(limitOf);
  child.send({ path, only, limits });
  const message = once(child, 'message').then(([answer]) => answer);
  if (!milliseconds) return Promise.race([message, exited]);
  const latest = processorMilliseconds(child.pid) + limitOf(sum(milliseconds));
  const watch = setInterval(() => processorMilliseconds(child.pid) > latest && child.kill('SIGKILL'), 500);
  try {
    return await Promise.race([message, exited]);
  } finally {
    clearInterval(watch);
  }
}

function limitOf(milliseconds) {
  return SLOWEST.milliseconds + SLOWEST.factor * milliseconds;
}

function sum(numbers) {
  return numbers.reduce((all, one) => all + one, 0);
}

/** What the process has used so far. On a busy machine that says more of an endless loop than the time of day. */
function processorMilliseconds(pid) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').slice(13, 15);
  return 10 * (Number(user) + Number(system));
}
