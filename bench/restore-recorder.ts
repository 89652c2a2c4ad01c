import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { PHASES, type Phase } from './phase.js';

const PROGRAMS = ['iptables', 'ip6tables'].flatMap((tool) =>
  ['nft', 'legacy'].map((variant) => `${tool}-${variant}-restore`),
);

/** A restore that a program started. */
export interface Recording {
  readonly phase: Phase;
  readonly command: readonly string[];
  /** The file that holds its input. */
  readonly input: string;
}

/**
 * Records the input of every iptables-restore with which a program writes, so that it can be replayed. It comes before
 * the tools in PATH, and passes the input on as it arrives.
 */
export class RestoreRecorder {
  /** The running program writes the current phase to this file. */
  readonly phaseFile: string;
  readonly #programs: string;
  readonly #inputs: string;

  constructor(readonly folder: string) {
    this.phaseFile = join(folder, 'phase');
    this.#programs = join(folder, 'programs');
    this.#inputs = join(folder, 'inputs');
  }

  async install(): Promise<void> {
    await mkdir(this.#programs, { recursive: true });
    await mkdir(this.#inputs, { recursive: true });
    await writeFile(this.phaseFile, PHASES[0]);
    for (const program of PROGRAMS) {
      const file = join(this.#programs, program);
      await writeFile(file, this.#script(program));
      await chmod(file, 0o755);
    }
  }

  /** That command, recorded. */
  recorded(...command: string[]): string[] {
    return ['env', `PATH=${this.#programs}${delimiter}${process.env.PATH}`, ...command];
  }

  /** The recordings so far, in the order in which the restores were started. */
  async recordings(): Promise<readonly Recording[]> {
    const files = (await readdir(this.#inputs)).filter((file) => file.endsWith('.input')).sort();
    return Promise.all(
      files.map(async (file) => {
        const input = join(this.#inputs, file);
        const command = (await readFile(input.replace(/input$/, 'command'), 'utf8')).trim().split(' ');
        const phase = (await readFile(input.replace(/input$/, 'phase'), 'utf8')).trim() as Phase;
        return { phase, command, input };
      }),
    );
  }

  /** The nfacct counters that recorded rules name. */
  async counters(): Promise<readonly string[]> {
    const recordings = await this.recordings();
    const inputs = await Promise.all(recordings.map(({ input }) => readFile(input, 'utf8')));
    const names = inputs.flatMap((input) => [...input.matchAll(/--nfacct-name (\S+)/g)]);
    return [...new Set(names.map(([, name]) => name!))];
  }

  #script(program: string): string {
    return `#!/bin/sh
PATH=\${PATH#*:}
# A trial, which asks what the kernel has, writes nothing.
case "$*" in *--test*) exec ${program} "$@" ;; esac
recording=${this.#inputs}/$(date +%s%N)
echo "${program} $*" > "$recording.command"
cp ${this.phaseFile} "$recording.phase"
tee "$recording.input" | ${program} "$@"
`;
  }
}
