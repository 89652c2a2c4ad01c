import { networkInterfaces } from 'node:os';
import type { CLibrary } from '../../../src/adapters/process/c-library.js';
import type { ProxyProcess } from '../world/proxy-process.js';
import type { World } from '../world/world.js';
import { mountKernelFiles } from './kernel-files.js';
import type { NetlinkProtocol } from './netlink-protocol.js';
import { Sockets } from './sockets.js';

/** The kernel and the programs of the simulated node. They outlast the processes of the program. */
export class Machine {
  private readonly sockets: Sockets;
  private readonly protocols = new Map<number, NetlinkProtocol>();
  /** What happens before a call of a process, counted down. */
  private waiting: { readonly pid: number; calls: number; readonly run: () => void } | undefined;
  private listeners: (() => void)[] = [];

  constructor(private readonly world: World) {
    mountKernelFiles(world);
    this.sockets = new Sockets({ protocols: this.protocols, beforeCall: (pid) => this.beforeEach(pid) });
  }

  /** The C library of a process. */
  libraryOf(process: ProxyProcess): CLibrary {
    const { life, events } = process;
    const { scheduler } = this.world;
    life.onEnd(() => this.sockets.end(life.pid));
    return this.sockets.libraryOf({
      pid: life.pid,
      isAlive: () => life.isAlive,
      soon: (run) => void scheduler.after(0.02, run, life),
      raise: (signal) => void scheduler.after(0.01, () => events.emit(signal, signal), life),
      exit: (code) => process.exited(code),
    });
  }

  /** Runs something before a call of the process, after so many others. */
  beforeCall({ life }: ProxyProcess, calls: number, run: () => void): void {
    this.waiting = { pid: life.pid, calls, run };
  }

  /** Calls back after every change that packets may notice. */
  onCommit(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Nothing is refused, lost or late any more. */
  endTrouble(): void {
    this.waiting = undefined;
  }

  networkInterfaces(): ReturnType<typeof networkInterfaces> {
    return {};
  }

  private beforeEach(pid: number): number {
    const { waiting } = this;
    if (waiting?.pid !== pid || waiting.calls-- > 0) return 0;
    this.waiting = undefined;
    waiting.run();
    return 0;
  }
}
