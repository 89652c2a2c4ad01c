import { execa, type ResultPromise } from 'execa';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders that guides write into. On the machine of a guide they begin as those of this machine, and what becomes of them is lost. */
const LAYERED = ['etc', 'usr', 'var', 'opt'];

/** Makes a mount namespace into that of the guide's machine, where systemd seems to run; then keeps it until it is killed. */
const PREPARE = `
mount -t tmpfs tmpfs "$1"
for folder in ${LAYERED.join(' ')}; do
  mkdir -p "$1/$folder/now" "$1/$folder/work"
  mount -t overlay -o "lowerdir=/$folder,upperdir=$1/$folder/now,workdir=$1/$folder/work" overlay "/$folder"
done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd/system /run/lock
echo ready
exec sleep infinity`;

/**
 * A machine that guides change: with the network of a namespace, the programs of this machine, and folders of its own.
 * Needs root and overlay file systems, and fails when it lacks them.
 */
export class Machine {
  private constructor(
    private readonly keeper: ResultPromise,
    private readonly layers: string,
  ) {}

  /** @param host the command line that runs another one in the machine's network */
  static async make(host: { commandLine(command: readonly string[]): readonly string[] }): Promise<Machine> {
    const layers = await mkdtemp(join(tmpdir(), 'guide-machine-'));
    const [file, ...args] = host.commandLine(['unshare', '--mount', 'sh', '-euc', PREPARE, 'sh', layers]);
    const keeper = execa(file!, args, { buffer: false, reject: false, stdin: 'ignore' });
    let complaints = '';
    keeper.stderr!.on('data', (part: Buffer) => (complaints += part.toString()));
    await Promise.race([once(keeper.stdout!, 'data'), keeper]);
    if (keeper.exitCode !== null) throw new Error(`cannot make a machine for a guide: ${complaints}`);
    return new Machine(keeper, layers);
  }

  /** The command line that runs `command` on this machine. */
  readonly commandLine = (command: readonly string[]): string[] => [
    ...['nsenter', `--target=${this.keeper.pid!}`, '--mount', '--net'],
    ...command,
  ];

  /** Runs a command on this machine to its end; fails with its stderr when it fails. */
  async run(command: readonly string[]): Promise<string> {
    const [file, ...args] = this.commandLine(command);
    const { stdout } = await execa(file!, args, { stdin: 'ignore' });
    return stdout;
  }

  /** The files of a folder of this machine, with what is in them: to compare before and after. */
  async files(folder: string): Promise<string> {
    return this.run(['sh', '-c', `find "$1" -type f -exec sha256sum {} + | sort -k 2`, 'sh', folder]);
  }

  async remove(): Promise<void> {
    this.keeper.kill('SIGKILL');
    await this.keeper;
    await rm(this.layers, { recursive: true, force: true });
  }
}
