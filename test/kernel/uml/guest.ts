import { execa } from 'execa';
import { mkdir, mkdtemp, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INIT_SCRIPT } from './init-script.js';
import { wholeFpState } from './whole-fp-state.js';

/** What of the console is shown when something went wrong. */
const TAIL = 4000;

export interface GuestOptions {
  /** Megabytes. Taken from the host only as far as they are used. */
  readonly memory?: number;
  /** How long the guest may leave its progress file as it is before it counts as hung. */
  readonly silenceSeconds?: number;
}

/** How a guest ended. */
export interface GuestEnd {
  /** Of its command; undefined when the guest ended without it. */
  readonly exitStatus: number | undefined;
  /** Why it was ended, when it did not end by itself. */
  readonly problem?: string;
  /** The last lines of its console: the kernel's, and what the command wrote. */
  readonly console: string;
}

/**
 * A machine with a kernel of its own: user-mode Linux, an ordinary process with the host's files as its root. What it
 * writes stays in its memory and is lost with it, except `folder`, which is its /exchange. Its kernel has IPVS, ipset,
 * dummy devices and iptables-legacy, and no nf_tables NAT.
 *
 * made → run (once) → removed. Ending the test process, even by force, ends the guest with all that belongs to it.
 */
export class Guest {
  private constructor(readonly folder: string) {}

  static async make(): Promise<Guest> {
    return new Guest(await mkdtemp(join(tmpdir(), 'kpguest-')));
  }

  /**
   * Boots it, runs a command in it and waits for its end.
   * @param progress name of a file in the folder that grows as long as the command does something
   */
  async run(
    command: readonly string[],
    progress: string,
    { memory = 1024, silenceSeconds = 600 }: GuestOptions = {},
  ): Promise<GuestEnd> {
    await writeFile(join(this.folder, 'command'), `FORCE_COLOR=0 exec ${command.map(quoted).join(' ')}\n`);
    const own = join(this.folder, 'uml');
    const init = join(this.folder, 'init');
    await mkdir(own);
    await writeFile(init, INIT_SCRIPT, { mode: 0o755 });
    const kernel = [
      ...['env', `LD_PRELOAD=${await wholeFpState(own)}`],
      ...['linux.uml', `mem=${memory}M`, 'rootfstype=hostfs', 'ro', `init=${init}`],
      ...['con0=fd:0,fd:1', 'con=null', 'quiet', 'panic=-1', `uml_dir=${own}`, '--', this.folder],
    ];
    // When this process dies, unshare dies, and with it everything in the process namespace that it made.
    const lifeline = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--fork', '--pid', '--kill-child'];
    // It has one processor, and parts that hand over to each other all the time: on one of the host's they do it sooner. What else runs
    // there goes after it: nothing else takes as long.
    const placed = ['nice', '--adjustment=-5', 'taskset', '--cpu-list', await oneProcessor()];
    const [file, ...parameters] = [...placed, ...lifeline, 'sh', '-c', '"$@"; exit $?', 'sh', ...kernel];
    const machine = execa(file!, parameters, {
      stdin: 'ignore',
      all: true,
      reject: false,
      maxBuffer: 64 * 1024 * 1024,
      env: { TMPDIR: await roomFor(memory, own) },
    });
    let silent = false;
    const stopWatching = watch(join(this.folder, progress), silenceSeconds, () => {
      silent = true;
      machine.kill('SIGKILL');
    });
    const { all, code, shortMessage } = await machine;
    stopWatching();
    const problem =
      code === undefined
        ? silent && `it did nothing for ${silenceSeconds} s and was ended`
        : `it cannot be started: ${shortMessage}; sh scripts/setup.sh tests installs what it needs`;
    const status = await readFile(join(this.folder, 'status'), 'utf8').catch(() => undefined);
    return {
      exitStatus: status === undefined ? undefined : Number(status),
      ...(problem && { problem }),
      console: (all ?? '').slice(-TAIL),
    };
  }

  /** Removes its folder. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A folder where a file of the guest's memory fits; it grows as the memory is used. Best one that is memory itself. */
async function roomFor(memory: number, otherwise: string): Promise<string> {
  try {
    const { bavail, bsize } = await statfs('/dev/shm');
    return bavail * bsize > memory * 1024 * 1024 ? '/dev/shm' : otherwise;
  } catch {
    return otherwise;
  }
}

/** One of the processors that this process may use. */
async function oneProcessor(): Promise<string> {
  const status = await readFile('/proc/self/status', 'utf8');
  return /^Cpus_allowed_list:\s*(\d+)/m.exec(status)![1]!;
}

/** Calls back when the file has not grown for so long. Returns what ends the watch. */
function watch(file: string, seconds: number, onSilence: () => void): () => void {
  let size = -1;
  let since = Date.now();
  const look = async (): Promise<void> => {
    const now = await stat(file).then(
      (found) => found.size,
      () => -1,
    );
    if (now !== size) since = Date.now();
    size = now;
    if (Date.now() - since > seconds * 1000) onSilence();
  };
  const timer = setInterval(() => void look(), 500);
  return () => clearInterval(timer);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
