import { EventEmitter } from 'node:events';
import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import { runProxy } from '../../../src/bootstrap/run-proxy.js';
import {
  completeCommandLine,
  validateCommandLine,
} from '../../../src/bootstrap/configuration/command-line.js';
import type { PinoLogger } from '../../../src/adapters/process/pino-logger.js';
import { remainsOf } from '../checks/remains.js';
import type { Child } from '../kernel/programs/children.js';
import { Life } from './life.js';
import { SimulatedLogger } from './simulated-logger.js';
import type { World } from './world.js';

/** One process of the program, from its command line to its exit, or until it is killed. */
export class ProxyProcess {
  readonly life: Life;
  readonly events = new EventEmitter();
  readonly startedAt: number;
  readonly library: CLibrary;
  readonly logger: SimulatedLogger;
  /** Undefined while it runs, and when it was killed. */
  exitCode: number | undefined;
  /** Why it ended, if it failed. */
  failure: unknown;
  /** Programs that it has started. */
  readonly children: Child[] = [];
  /** What it still had open when it was done; undefined: nothing, or it was not asked to end. */
  remains: string | undefined;

  private constructor(
    private readonly world: World,
    readonly argv: readonly string[],
    pid: number,
  ) {
    this.life = new Life('proxy', pid);
    this.startedAt = world.scheduler.now;
    this.logger = new SimulatedLogger(() => world.scheduler.now, world.log);
    this.library = world.machine.libraryOf(this);
    this.events.setMaxListeners(0);
  }

  /** One that has ended before the world began. */
  static none(world: World): ProxyProcess {
    const none = new ProxyProcess(world, [], 999);
    none.life.end();
    return none;
  }

  /** Starts the program. It becomes the one that runs now. */
  static start(world: World, argv: readonly string[]): ProxyProcess {
    const started = new ProxyProcess(world, argv, world.nextPid++);
    world.proxy = started;
    world.scheduler.after(0, () => void started.main(), started.life);
    return started;
  }

  /** Whether it has logged such a message. */
  hasLogged(isMeant: (message: string) => boolean): boolean {
    return this.world.log.some(({ at, message }) => at >= this.startedAt && isMeant(message));
  }

  get isRunning(): boolean {
    return this.life.isAlive && this.exitCode === undefined;
  }

  /** The process is gone at once: what it has begun has no effect any more. */
  kill(): void {
    this.life.end();
  }

  /** Raises a signal, as soon as the process has its turn. */
  raise(signal: string): void {
    this.world.scheduler.after(0, () => this.events.emit(signal, signal), this.life);
  }

  /** It has called `exit`. */
  exited(code: number): void {
    this.exitCode ??= code;
    this.life.end();
  }

  private async main(): Promise<void> {
    const { world, logger, argv } = this;
    try {
      const commandLine = completeCommandLine(argv, {
        readFile: (path) => String(world.files.read(path)),
        hostname: () => world.settings.nodeName,
      });
      validateCommandLine(commandLine);
      const code = await runProxy(commandLine, logger as unknown as PinoLogger);
      if (!this.life.isAlive) return;
      this.remains = remainsOf(world, this);
      this.exited(code);
    } catch (error) {
      this.failure = error;
      if (this.life.isAlive) this.exited(1);
    }
  }
}
