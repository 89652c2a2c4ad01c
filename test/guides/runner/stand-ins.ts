import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A program's being called by a guide. */
export interface Use {
  readonly args: readonly string[];
  /** Where it was called. */
  readonly folder: string;
  /** Its standard input. */
  readonly input: string;
}

/** What stands in for a program: gives what it prints, or throws what it complains about before it ends with 1. */
export type StandIn = (use: Use) => Promise<string | void> | string | void;

/** What a stand-in does for one form of its command line; gets the words in the place of each `*`. */
export type Form = (words: readonly string[], use: Use) => Promise<string | void> | string | void;

/**
 * A stand-in that knows these command lines and complains about every other. `*` stands for one word, or for a part of one:
 * `create cluster --config *`.
 */
export function knowing(forms: Readonly<Record<string, Form>>): StandIn {
  const patterns = Object.entries(forms).map(([form, act]) => ({ pattern: patternOf(form), act }));
  return (use) => {
    const line = use.args.join('\0');
    for (const { pattern, act } of patterns) {
      const match = pattern.exec(line);
      if (match) return act(match.slice(1), use);
    }
    throw new Error(
      `the stand-in does not know "${use.args.join(' ')}", only: ${Object.keys(forms).join('; ')}`,
    );
  };
}

function patternOf(form: string): RegExp {
  const quoted = form.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\0');
  return new RegExp(`^${quoted.replaceAll('*', '([^\0]+)')}$`);
}

/** Asks the test what to do. It runs in any folder, network and user, wherever the socket can be reached. */
const program = (name: string, socket: string): string => `#!${process.execPath}
const use = { name: ${JSON.stringify(name)}, args: process.argv.slice(2), folder: process.cwd(), input: require('fs').readFileSync(0, 'utf8') };
require('http').request({ socketPath: ${JSON.stringify(socket)}, method: 'POST' }, (response) => {
  let text = '';
  response.on('data', (part) => (text += part)).on('end', () => {
    const { out, complaint } = JSON.parse(text);
    if (out) process.stdout.write(out.endsWith('\\n') ? out : out + '\\n');
    if (complaint !== undefined) { process.stderr.write(use.name + ': ' + complaint + '\\n'); process.exitCode = 1; }
  });
}).end(JSON.stringify(use));
`;

/** Programs that a machine of the test does not have, and what they do instead, in the process of the test. */
export class StandIns {
  /** The command lines that were run, in their order. */
  readonly used: string[] = [];
  private readonly acting = new Set<Promise<unknown>>();

  private constructor(
    /** To be put before everything else in PATH. */
    readonly folder: string,
    private readonly programs: Readonly<Record<string, StandIn>>,
    private readonly server: Server,
  ) {}

  /** Makes an executable for each name. */
  static async make(programs: Readonly<Record<string, StandIn>>): Promise<StandIns> {
    const folder = await mkdtemp(join(tmpdir(), 'guide-programs-'));
    await chmod(folder, 0o755);
    const bin = join(folder, 'bin');
    await mkdir(bin);
    const socket = join(folder, 'socket');
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (part: Buffer) => (text += part.toString()));
      request.on('end', () => {
        const { name, ...use } = JSON.parse(text) as Use & { readonly name: string };
        const acting = standIns.act(name, use).then((answer) => response.end(JSON.stringify(answer)));
        standIns.acting.add(acting);
        void acting.finally(() => standIns.acting.delete(acting));
      });
    });
    const standIns = new StandIns(bin, programs, server);
    await Promise.all(
      Object.keys(programs).map((name) => writeFile(join(bin, name), program(name, socket), { mode: 0o755 })),
    );
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    return standIns;
  }

  /** Waits for what a stand-in still does, also when nobody waits for its answer any more. */
  async remove(): Promise<void> {
    await Promise.all(this.acting);
    await new Promise((resolve) => this.server.close(resolve));
    await rm(join(this.folder, '..'), { recursive: true, force: true });
  }

  private async act(name: string, use: Use): Promise<{ out?: string; complaint?: string }> {
    this.used.push([name, ...use.args].join(' '));
    try {
      return { out: (await this.programs[name]!(use)) ?? '' };
    } catch (error) {
      return { complaint: error instanceof Error ? error.message : String(error) };
    }
  }
}
