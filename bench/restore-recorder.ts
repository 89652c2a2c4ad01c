import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { BenchHost } from './host.js';

const PROGRAMS = ['iptables', 'ip6tables'].flatMap((tool) =>
  ['nft', 'legacy'].map((variant) => `${tool}-${variant}-restore`),
);

/**
 * Keeps the input of every iptables-restore that a program starts, so that it can be given to the tool once more. Stands
 * in front of the tools in PATH, and passes the input on while it comes.
 */
export class RestoreRecorder {
  readonly #programs: string;
  readonly #inputs: string;

  constructor(folder: string) {
    this.#programs = join(folder, 'programs');
    this.#inputs = join(folder, 'inputs');
  }

  async install(): Promise<void> {
    await mkdir(this.#programs, { recursive: true });
    await mkdir(this.#inputs, { recursive: true });
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

  /** How many restores were recorded so far. */
  async count(): Promise<number> {
    return (await this.#recordings()).length;
  }

  /** The nfacct counters that recorded rules name. */
  async counters(): Promise<readonly string[]> {
    const inputs = await Promise.all((await this.#recordings()).map((file) => readFile(file, 'utf8')));
    const names = inputs.flatMap((input) => [...input.matchAll(/--nfacct-name (\S+)/g)]);
    return [...new Set(names.map(([, name]) => name!))];
  }

  /** Runs all recorded restores on a host, without the proxy. Returns the milliseconds that they take. */
  async replay(host: BenchHost): Promise<number> {
    let milliseconds = 0;
    for (const input of await this.#recordings()) {
      const command = (await readFile(input.replace(/input$/, 'command'), 'utf8')).trim();
      milliseconds += (await host.run('sh', '-c', `exec ${command} < ${input}`)).milliseconds;
    }
    return milliseconds;
  }

  async #recordings(): Promise<string[]> {
    const files = (await readdir(this.#inputs)).filter((file) => file.endsWith('.input'));
    return files.sort().map((file) => join(this.#inputs, file));
  }

  #script(program: string): string {
    return `#!/bin/sh
PATH=\${PATH#*:}
# A trial, which asks what the kernel has, writes nothing.
case "$*" in *--test*) exec ${program} "$@" ;; esac
recording=${this.#inputs}/$(date +%s%N)
echo "${program} $*" > "$recording.command"
tee "$recording.input" | ${program} "$@"
`;
  }
}
