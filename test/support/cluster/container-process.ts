import { execa, type ResultPromise } from 'execa';
import { readFile } from 'node:fs/promises';

/** One run of a container: running → ended by itself, or stopped. */
export class ContainerProcess {
  private readonly process: ResultPromise;
  private output = '';

  /** @param commandLine that of bwrap, by way of others that become it */
  constructor([file, ...args]: readonly string[]) {
    this.process = execa(file!, args, {
      reject: false,
      buffer: false,
      all: true,
      stdin: 'ignore',
      detached: true,
    });
    this.process.all!.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  get log(): string {
    return this.output;
  }

  /** Its exit code, once it has ended. */
  async end(): Promise<number> {
    const { exitCode } = await this.process;
    return exitCode ?? 137;
  }

  /** SIGTERM for what runs inside, and waits for its end; at most five seconds. */
  async stop(): Promise<void> {
    const all = -this.process.pid!;
    const late = setTimeout(() => signal(all, 'SIGKILL'), 5000);
    const inside = await this.inside();
    if (inside === undefined) signal(all, 'SIGKILL');
    else signal(inside, 'SIGTERM');
    await this.process;
    clearTimeout(late);
  }

  /** The program, as this machine numbers it: the child of the first process inside, which is the child of bwrap. */
  private async inside(): Promise<number | undefined> {
    const first = await childOf(this.process.pid!);
    return first && childOf(first);
  }
}

async function childOf(pid: number): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return Number(children.split(' ')[0]) || undefined;
}

/** @param pid negative: of a whole group */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
