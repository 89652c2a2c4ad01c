import type { EventEmitter } from 'node:events';
import * as real from 'node:process';
import { world } from '../world/current.js';
import { Ended } from '../world/scheduler.js';

/** Thrown where a real process would be gone. */
export class ProcessExit extends Ended {
  override readonly name = 'ProcessExit';

  constructor(readonly code: number) {
    super(`the simulated process exits with ${code}`);
  }
}

/** Signals and other events of the process that runs now. */
const events = (): EventEmitter => world.proxy.events;

/** In place of `process`: that of the simulated machine that runs the program now. */
export const simulatedProcess = {
  platform: 'linux',
  arch: 'x64',
  version: real.version,
  versions: real.versions,
  release: real.release,
  execArgv: [] as string[],
  execPath: '/usr/bin/node',
  argv: ['/usr/bin/node', '/usr/bin/kubeproxy'],
  env: {} as Record<string, string>,
  title: 'kubeproxy',
  get pid(): number {
    return world.proxy.life.pid;
  },
  cwd: (): string => '/',
  uptime: (): number => (world.scheduler.now - world.proxy.startedAt) / 1000,
  memoryUsage: Object.assign(() => ({ rss: 1, heapTotal: 1, heapUsed: 1, external: 0, arrayBuffers: 0 }), {
    rss: () => 1,
  }),
  getActiveResourcesInfo: (): readonly string[] => [],
  cpuUsage: () => ({ user: 0, system: 0 }),
  hrtime: Object.assign(
    (): [number, number] => [Math.floor(world.scheduler.now / 1000), (world.scheduler.now % 1000) * 1e6],
    { bigint: () => BigInt(Math.floor(world.scheduler.now * 1e6)) },
  ),
  nextTick: real.nextTick,
  emitWarning: (): void => undefined,
  getuid: (): number => 0,
  kill: (): boolean => true,
  exit(code = 0): never {
    world.proxy.exited(code);
    throw new ProcessExit(code);
  },
  stdout: { isTTY: false, write: (): boolean => true, once: (): void => undefined },
  stderr: { isTTY: false, write: (): boolean => true },
  stdin: {},
  on(name: string, listener: (...values: unknown[]) => void) {
    events().on(name, listener);
    return this;
  },
  once(name: string, listener: (...values: unknown[]) => void) {
    events().once(name, listener);
    return this;
  },
  off(name: string, listener: (...values: unknown[]) => void) {
    events().off(name, listener);
    return this;
  },
  removeListener(name: string, listener: (...values: unknown[]) => void) {
    events().off(name, listener);
    return this;
  },
  listenerCount: (name: string): number => events().listenerCount(name),
  listeners: (name: string) => events().listeners(name),
  emit: (name: string, ...values: unknown[]): boolean => events().emit(name, ...values),
};
