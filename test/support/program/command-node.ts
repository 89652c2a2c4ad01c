import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, type CommandOptions, type Ended } from './command.js';
import { Namespace } from './in-namespace.js';
import { Host } from '../testbed/host.js';
import { syncStateOf } from './status.js';

/** A node in a network namespace of its own, with a folder for files, on which a test runs the program. */
export class CommandNode {
  readonly host: Host;
  private readonly started: Command[] = [];

  private constructor(
    readonly namespace: Namespace,
    readonly folder: string,
  ) {
    this.host = new Host(namespace.name);
  }

  static async open(prefix: string): Promise<CommandNode> {
    const folder = await mkdtemp(join(tmpdir(), `kubeproxy-${prefix}-`));
    return new CommandNode(await Namespace.open(prefix), folder);
  }

  /** A path in the folder. */
  at(...names: readonly string[]): string {
    return join(this.folder, ...names);
  }

  /** Writes a file in the folder and returns its path. */
  async write(name: string, text: string): Promise<string> {
    await writeFile(this.at(name), text);
    return this.at(name);
  }

  /** Starts the program; it is killed when the node closes. */
  async start(args: readonly string[], options?: CommandOptions): Promise<Command> {
    const command = await Command.start(this.host, args, options);
    this.started.push(command);
    return command;
  }

  /** Starts the program as a proxy, and waits until everything is programmed. */
  async serve(args: readonly string[], options?: CommandOptions): Promise<Command> {
    const proxy = await this.start(args, options);
    await proxy.until('everything is programmed', async () => (await syncStateOf(this.host)).idle);
    return proxy;
  }

  /** Runs the program to its end. */
  run(args: readonly string[], options?: CommandOptions): Promise<Ended> {
    return Command.run(this.host, args, options);
  }

  async close(): Promise<void> {
    for (const command of this.started) if (command.running) await command.stop('SIGKILL');
    await this.host.killAgent();
    await this.namespace.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
